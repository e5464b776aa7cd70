// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/capability.h>

#include <span>
#include <string_view>

namespace rookery::sys {

// The last step of a process of rookery's own that others talk to. From here on it has, for good, the capabilities `kept` and
// the calls that `policy` allows (SeccompFilter::compile), gains nothing by an exec, cannot be traced or read, and ends with its
// parent. Each drop is verified by trying to undo it. Throws std::system_error or std::logic_error; the process must not
// go on then.
void confine(std::span<const cap_value_t> kept, std::string_view policy);

}  // namespace rookery::sys

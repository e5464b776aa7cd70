// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rookery::util {

bool in_container() noexcept;

// What to add to `docker run` when something of the start is refused, to be put behind an error's text. Empty outside of a
// container.
std::string container_advice();

// Where AppArmor keeps user namespaces for programs with a profile or CAP_SYS_ADMIN (Ubuntu since 23.10): how rookery gets them. To be put
// behind an error's text, too; empty elsewhere.
std::string restriction_advice();

}  // namespace rookery::util

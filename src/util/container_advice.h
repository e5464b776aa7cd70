// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rookery::util {

bool in_container() noexcept;

// What to add to `docker run` when something of the start is refused, to be put behind an error's text. Empty outside of a
// container.
std::string container_advice();

}  // namespace rookery::util

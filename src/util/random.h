// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rookery::util {

// From the kernel's generator (getrandom(2)). Throws std::system_error.
std::uint64_t random_u64();
std::string random_hex(std::size_t digits);

}  // namespace rookery::util

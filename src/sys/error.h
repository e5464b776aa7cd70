// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rookery::sys {

// Throws std::system_error for the current errno. `what` says what was tried and on what,
// e.g. "mount tmpfs on /run/rookery".
[[noreturn]] void throw_errno(const std::string& what);

// Throws as above when `result` is negative, else hands it on:
//   UniqueFd fd(check(::open(...), "open /dev/null"));
int check(int result, const char* what);
int check(int result, const std::string& what);

}  // namespace rookery::sys

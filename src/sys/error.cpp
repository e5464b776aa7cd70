// SPDX-License-Identifier: Apache-2.0
#include "sys/error.h"

#include <cerrno>
#include <system_error>

namespace rookery::sys {

void throw_errno(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

int check(int result, const char* what) {
  if (result < 0) throw_errno(what);
  return result;
}

int check(int result, const std::string& what) { return check(result, what.c_str()); }

}  // namespace rookery::sys

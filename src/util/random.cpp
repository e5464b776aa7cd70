// SPDX-License-Identifier: Apache-2.0
#include "util/random.h"

#include <sys/random.h>

#include <cerrno>
#include <system_error>
#include <vector>

namespace rookery::util {

namespace {

void fill(void* to, std::size_t size) {
  // Up to 256 bytes come whole and without EINTR (getrandom(2)).
  if (size > 256 || ::getrandom(to, size, 0) != static_cast<ssize_t>(size)) {
    throw std::system_error(errno, std::generic_category(), "getrandom");
  }
}

}  // namespace

std::uint64_t random_u64() {
  std::uint64_t value;
  fill(&value, sizeof value);
  return value;
}

std::string random_hex(std::size_t digits) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::vector<unsigned char> bytes((digits + 1) / 2);
  fill(bytes.data(), bytes.size());
  std::string text;
  for (std::size_t i = 0; i < digits; ++i) text += kDigits[(bytes[i / 2] >> (i % 2 * 4)) & 15];
  return text;
}

}  // namespace rookery::util

// SPDX-License-Identifier: Apache-2.0
#include "util/bounded_output.h"

#include <doctest/doctest.h>

#include "util/utf8.h"

using namespace rookery::util;

namespace {

std::string marker(std::size_t elided) {
  return "\n... [output truncated by sandbox: " + std::to_string(elided) + " bytes elided]\n";
}

std::string digits(std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += static_cast<char>('0' + i % 10);
  return text;
}

}  // namespace

TEST_CASE("output within the limit is returned unchanged") {
  BoundedOutput output(10);
  output.append("01234");
  output.append("56789");
  CHECK_FALSE(output.truncated());
  CHECK(output.finish() == "0123456789");
  CHECK(output.total() == 0);
}

TEST_CASE("longer output keeps its head and tail and counts what is missing, however it arrives") {
  for (const std::size_t limit : {2U, 3U, 8U, 9U, 64U}) {
    for (std::size_t length = limit + 1; length < limit * 4 + 3; ++length) {
      const std::string text = digits(length);
      const std::size_t head = limit / 2;
      const std::size_t tail = limit - head;
      const std::string expected = text.substr(0, head) + marker(length - limit) + text.substr(length - tail);
      for (const std::size_t step : {std::size_t{1}, std::size_t{3}, limit, length}) {
        BoundedOutput output(limit);
        for (std::size_t at = 0; at < length; at += step) output.append(std::string_view(text).substr(at, step));
        CHECK(output.total() == length);
        CHECK(output.truncated());
        CHECK(output.finish() == expected);
      }
    }
  }
}

TEST_CASE("a cut never splits a character") {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "\u20ac";
  for (std::size_t limit = 8; limit < 40; ++limit) {
    BoundedOutput output(limit);
    output.append(text);
    const std::string cut = output.finish();
    CHECK(valid_utf8(cut));
    const std::size_t kept = (limit / 2) / 3 * 3 + (limit - limit / 2) / 3 * 3;
    CHECK(cut.find(marker(text.size() - kept)) != std::string::npos);
  }
}

TEST_CASE("bytes that are not UTF-8 are kept as they are") {
  BoundedOutput output(8);
  output.append(std::string(100, '\x80'));
  CHECK(output.finish() == std::string(4, '\x80') + marker(92) + std::string(4, '\x80'));
}

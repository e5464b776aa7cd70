// SPDX-License-Identifier: Apache-2.0
#include "util/utf8.h"

#include <doctest/doctest.h>

using namespace rookery::util;
using namespace std::string_literals;

TEST_CASE("well-formed UTF-8 is recognised") {
  CHECK(valid_utf8(""));
  CHECK(valid_utf8("plain text that is longer than one machine word"));
  CHECK(valid_utf8("p l\u00f6t \u20ac \U0001F600 \U0010FFFF"));
  CHECK(valid_utf8("\0"s));
}

TEST_CASE("ill-formed UTF-8 is recognised wherever it stands") {
  for (const std::string& bad : {"\x80"s, "\xC0\xAF"s, "\xC1\x81"s, "\xE0\x80\xAF"s, "\xED\xA0\x80"s, "\xF4\x90\x80\x80"s, "\xF5"s,
                               "\xFF"s, "\xE2\x82"s, "\xF0\x9F\x98"s}) {
    CHECK_FALSE(valid_utf8(bad));
    CHECK_FALSE(valid_utf8("twelve bytes" + bad));
    CHECK_FALSE(valid_utf8(bad + "twelve bytes"));
  }
}

TEST_CASE("each maximal ill-formed part becomes one replacement character") {
  // The example of table 3-8 of the Unicode standard.
  CHECK(to_valid_utf8("\x61\xF1\x80\x80\xE1\x80\xC2\x62\x80\x63\x80\xBF\x64"s) == "a\uFFFD\uFFFD\uFFFDb\uFFFDc\uFFFD\uFFFDd");
  CHECK(to_valid_utf8("\xED\xA0\x80"s) == "\uFFFD\uFFFD\uFFFD");  // a surrogate half
  CHECK(to_valid_utf8("caf\xE9\n"s) == "caf\uFFFD\n");
  CHECK(to_valid_utf8("\u00e9\u20ac") == "\u00e9\u20ac");
  CHECK(to_valid_utf8("end\xE2\x82"s) == "end\uFFFD");
}

TEST_CASE("length is counted in code points") {
  CHECK(code_points("") == 0);
  CHECK(code_points("a\u00e9\u20ac\U0001F600") == 4);
}

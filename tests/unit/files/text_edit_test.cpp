// SPDX-License-Identifier: Apache-2.0
#include "server/editor/text_edit.h"

#include <doctest/doctest.h>

using namespace rookery::server;

namespace {

std::string replaced(std::string_view text, std::string_view old_part, std::string_view new_part) {
  const Replacement result = replace_once(text, old_part, new_part);
  return result.matches == 1 ? result.text : "matches: " + std::to_string(result.matches);
}

std::string inserted(std::string_view text, std::int64_t line, std::string_view added) {
  return insert_after(text, line, added).value_or("no such line");
}

}  // namespace

TEST_CASE("only a line feed ends a line") {
  CHECK(count_lines("") == 0);
  CHECK(count_lines("a") == 1);
  CHECK(count_lines("a\n") == 1);
  CHECK(count_lines("\n\n") == 2);
  CHECK(count_lines("one\u2028two\x0c\u0085three\rfour\n") == 1);
}

TEST_CASE("a range of lines is exact") {
  CHECK(line_range("one\u2028two\nthree\n", 2, 2) == "three");
  CHECK(line_range("a\nb\nc", 1, 3) == "a\nb\nc");
  CHECK(line_range("a\nb\nc", 2, 3) == "b\nc");
  CHECK(line_range("a\r\nb\r\n", 1, 1) == "a\r");
  CHECK(line_range("\n\nx\n", 1, 2) == "\n");
}

TEST_CASE("occurrences do not overlap") {
  CHECK(count_occurrences("aaaa", "aa") == 2);
  CHECK(count_occurrences("aaa", "aa") == 1);
  CHECK(count_occurrences("abc", "abcd") == 0);
  CHECK(count_occurrences("", "a") == 0);
  CHECK(count_occurrences("xx", "x") == 2);
}

TEST_CASE("a search stays fast for a periodic part") {
  const std::string text(1 << 22, 'a');
  CHECK(count_occurrences(text, std::string(1 << 21, 'a') + "b") == 0);
  CHECK(count_occurrences(text, "b" + std::string(1 << 21, 'a')) == 0);
}

TEST_CASE("exactly one occurrence is replaced, the rest stays byte for byte") {
  CHECK(replaced("caf\xE9\nsize\n", "size", "SIZE") == "caf\xE9\nSIZE\n");
  CHECK(replaced("\xEF\xBB\xBFx = 1", "1", "2") == "\xEF\xBB\xBFx = 2");
  CHECK(replaced("a b a", "b", "") == "a  a");
  CHECK(replaced("a b a", "a", "c") == "matches: 2");
  CHECK(replaced("a b a", "z", "c") == "matches: 0");
  CHECK(replaced(std::string("a\0b", 3), std::string("\0", 1), "-") == "a-b");
}

TEST_CASE("text with plain line ends edits a CRLF file in its own line ends") {
  const std::string file = "a = 1\r\nb = 2\r\nc = 3\r\n";
  CHECK(replaced(file, "b = 2\nc", "b = 9\nc") == "a = 1\r\nb = 9\r\nc = 3\r\n");
  CHECK(replaced(file, "b = 2", "b = 2\nb2 = 2") == "a = 1\r\nb = 2\r\nb2 = 2\r\nc = 3\r\n");
  CHECK(replaced(file, "\nb = 2", "\nx\ny") == "a = 1\r\nx\r\ny\r\nc = 3\r\n");
  CHECK(replaced(file, "b = 2\r\nc", "b\nc") == "a = 1\r\nb\nc = 3\r\n");
  CHECK(replaced(file, "\n", " ") == "matches: 3");
}

TEST_CASE("a file of mixed line ends is matched as it is first") {
  const std::string file = "a\nb\r\nc\n";
  CHECK(replaced(file, "a\nb", "A\nB") == "A\nB\r\nc\n");
  CHECK(replaced(file, "b\nc", "B\nC") == "a\nB\r\nC\n");
  CHECK(replaced("a\nb\n", "a\r\nb", "x") == "matches: 0");
}

TEST_CASE("lines are inserted behind a line, with its line end") {
  CHECK(inserted("a\nb\n", 0, "x") == "x\na\nb\n");
  CHECK(inserted("a\nb\n", 1, "x\n") == "a\nx\nb\n");
  CHECK(inserted("a\nb\n", 2, "x") == "a\nb\nx\n");
  CHECK(inserted("", 0, "x") == "x\n");
  CHECK(inserted("a\r\nb\r\n", 1, "x\ny") == "a\r\nx\r\ny\r\nb\r\n");
  CHECK(inserted("a\r\nb\r\n", 0, "x") == "x\r\na\r\nb\r\n");
  CHECK(inserted("a\r\nb\nc", 2, "x") == "a\r\nb\nx\nc");
  CHECK(inserted("a\n", 1, "") == "a\n\n");
  CHECK(inserted("a\u2028b\n", 1, "x") == "a\u2028b\nx\n");
}

TEST_CASE("an unfinished last line is finished first, so that lines do not merge") {
  CHECK(inserted("a\nb", 2, "x") == "a\nb\nx\n");
  CHECK(inserted("a\r\nb", 2, "x") == "a\r\nb\r\nx\r\n");
  CHECK(inserted("a\nb", 1, "x") == "a\nx\nb");
  CHECK(inserted("a", 1, "x") == "a\nx\n");
}

TEST_CASE("a byte order mark stays in front") { CHECK(inserted("\xEF\xBB\xBF" "a\n", 0, "x") == "\xEF\xBB\xBFx\na\n"); }

TEST_CASE("lines that do not exist are told") {
  CHECK(inserted("a\n", -1, "x") == "no such line");
  CHECK(inserted("a\n", 2, "x") == "no such line");
  CHECK(inserted("", 1, "x") == "no such line");
  CHECK(inserted("a\n", INT64_MAX, "x") == "no such line");
  CHECK(inserted("a\n", INT64_MIN, "x") == "no such line");
}

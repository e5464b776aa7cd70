// SPDX-License-Identifier: Apache-2.0
// Edits agree with their plain definition and change nothing else.
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/editor/text_edit.h"
#include "util/bounded_output.h"

using namespace rookery::server;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// The input's three texts, cut at bytes 0xFF.
std::array<std::string_view, 3> parts_of(std::string_view input) {
  std::array<std::string_view, 3> parts;
  for (std::size_t i = 0; i < 2; ++i) {
    parts[i] = input.substr(0, input.find('\xFF'));
    input.remove_prefix(parts[i].size() == input.size() ? input.size() : parts[i].size() + 1);
  }
  parts[2] = input;
  return parts;
}

std::size_t plain_count(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

void check_replace(std::string_view text, std::string_view old_part, std::string_view new_part) {
  if (old_part.empty()) return;
  require(count_occurrences(text, old_part) == plain_count(text, old_part));
  const Replacement result = replace_once(text, old_part, new_part);
  if (result.matches != 1) return;
  // What is before and after the change is the old text's.
  std::size_t front = 0;
  while (front < text.size() && front < result.text.size() && text[front] == result.text[front]) ++front;
  std::size_t back = 0;
  while (back < text.size() - front && back < result.text.size() - front &&
         text[text.size() - 1 - back] == result.text[result.text.size() - 1 - back]) {
    ++back;
  }
  const std::size_t line_ends = plain_count(old_part, "\n");
  require(text.size() - front - back <= old_part.size() + line_ends);
}

void check_insert(std::string_view text, std::int64_t line, std::string_view added) {
  const auto result = insert_after(text, line, added);
  require(result.has_value() == (line >= 0 && static_cast<std::size_t>(line) <= count_lines(text)));
  if (!result || text == "\xEF\xBB\xBF") return;  // a mark alone counts as a line, but is part of the one inserted
  require(count_lines(*result) == count_lines(text) + std::max<std::size_t>(count_lines(added), 1));
  const auto before = static_cast<std::size_t>(line);
  if (before > 1) require(line_range(*result, 1, before - 1) == line_range(text, 1, before - 1));
}

void check_bounded(std::string_view text, std::size_t limit) {
  rookery::util::BoundedOutput whole(limit);
  whole.append(text);
  rookery::util::BoundedOutput pieces(limit);
  for (std::size_t at = 0; at < text.size(); at += 1 + at % 7) pieces.append(text.substr(at, 1 + at % 7));
  require(whole.total() == text.size());
  const std::string kept = whole.finish();
  require(kept == pieces.finish());
  require(text.size() > limit || kept == text);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const auto number = static_cast<std::int8_t>(data[0]);
  const auto [text, old_part, new_part] = parts_of({reinterpret_cast<const char*>(data + 1), size - 1});
  check_replace(text, old_part, new_part);
  check_insert(text, number, old_part);
  check_bounded(text, data[0] < 2 ? 2 : data[0]);
  const std::size_t lines = count_lines(text);
  for (std::size_t first = 1; first <= lines && first <= 8; ++first) {
    require(line_range(text, first, first).find('\n') == std::string_view::npos);
  }
  return 0;
}

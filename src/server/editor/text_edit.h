// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

// Edits of a text as bytes, without side effects. Only "\n" ends a line: every other tool of a session counts so. Time is
// linear in the text, whatever is searched for.
namespace rookery::server {

// Lines of `text`; a last one without "\n" counts.
[[nodiscard]] std::size_t count_lines(std::string_view text) noexcept;

// Lines first..last (1-based, inclusive, both existing) without the last "\n".
[[nodiscard]] std::string_view line_range(std::string_view text, std::size_t first, std::size_t last) noexcept;

// Non-overlapping occurrences of `part`, which is not empty, from the left.
[[nodiscard]] std::size_t count_occurrences(std::string_view text, std::string_view part) noexcept;

struct Replacement {
  std::size_t matches = 0;
  std::string text;  // the edited text when there was exactly one
};

// Replaces the one occurrence of `old_part` (not empty). A part written with "\n" also means "\r\n" in a file that has that, and
// `new_part` then gets it too; everything outside of the match stays byte for byte.
[[nodiscard]] Replacement replace_once(std::string_view text, std::string_view old_part, std::string_view new_part);

// Puts `added` behind line `line` (0: at the top, behind a byte order mark) as lines of its own, with the line ends of its
// neighbours. nullopt when there is no such line.
[[nodiscard]] std::optional<std::string> insert_after(std::string_view text, std::int64_t line, std::string_view added);

}  // namespace rookery::server

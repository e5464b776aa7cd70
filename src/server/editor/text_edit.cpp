// SPDX-License-Identifier: Apache-2.0
#include "server/editor/text_edit.h"

#include <string.h>

#include <algorithm>

namespace rookery::server {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// memmem(3) is linear also for periodic parts; string_view::find is not.
std::size_t find_from(std::string_view text, std::string_view part, std::size_t from) noexcept {
  if (text.size() - from < part.size()) return std::string_view::npos;
  const void* found = ::memmem(text.data() + from, text.size() - from, part.data(), part.size());
  return found == nullptr ? std::string_view::npos : static_cast<std::size_t>(static_cast<const char*>(found) - text.data());
}

// Offset behind `lines` line ends.
std::size_t offset_behind(std::string_view text, std::size_t lines) noexcept {
  std::size_t at = 0;
  for (; lines > 0; --lines) {
    const std::size_t end = text.find('\n', at);
    if (end == std::string_view::npos) return text.size();
    at = end + 1;
  }
  return at;
}

bool has_carriage_return(std::string_view text) noexcept { return text.find('\r') != std::string_view::npos; }
bool has_crlf(std::string_view text) noexcept { return text.find("\r\n") != std::string_view::npos; }

bool ends_every_line_with_crlf(std::string_view text) noexcept {
  bool any = false;
  for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (at == 0 || text[at - 1] != '\r') return false;
    any = true;
  }
  return any;
}

// "\n" becomes "\r\n" where it is not already.
std::string with_crlf(std::string_view text) {
  std::string out;
  out.reserve(text.size() + text.size() / 16);
  char previous = 0;
  for (const char c : text) {
    if (c == '\n' && previous != '\r') out += '\r';
    out += c;
    previous = c;
  }
  return out;
}

Replacement replace_exactly(std::string_view text, std::string_view old_part, std::string_view new_part) {
  Replacement result{count_occurrences(text, old_part), {}};
  if (result.matches != 1) return result;
  const std::size_t at = find_from(text, old_part, 0);
  result.text.reserve(text.size() - old_part.size() + new_part.size());
  result.text.append(text.substr(0, at)).append(new_part).append(text.substr(at + old_part.size()));
  return result;
}

}  // namespace

std::size_t count_lines(std::string_view text) noexcept {
  const auto ends = static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  return ends + (!text.empty() && text.back() != '\n' ? 1U : 0U);
}

std::string_view line_range(std::string_view text, std::size_t first, std::size_t last) noexcept {
  const std::size_t begin = offset_behind(text, first - 1);
  const std::string_view rest = text.substr(begin);
  std::string_view lines = rest.substr(0, offset_behind(rest, last - first + 1));
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  return lines;
}

std::size_t count_occurrences(std::string_view text, std::string_view part) noexcept {
  std::size_t count = 0;
  for (std::size_t at = find_from(text, part, 0); at != std::string_view::npos; at = find_from(text, part, at + part.size())) ++count;
  return count;
}

Replacement replace_once(std::string_view text, std::string_view old_part, std::string_view new_part) {
  // Whoever writes "\r" knows the file's line ends and is taken at his word.
  const bool plain = !has_carriage_return(old_part) && !has_carriage_return(new_part);
  if (plain && ends_every_line_with_crlf(text)) return replace_exactly(text, with_crlf(old_part), with_crlf(new_part));
  Replacement result = replace_exactly(text, old_part, new_part);
  if (result.matches == 0 && old_part.find('\n') != std::string_view::npos && has_crlf(text)) {
    return replace_exactly(text, with_crlf(old_part), with_crlf(new_part));
  }
  return result;
}

std::optional<std::string> insert_after(std::string_view text, std::int64_t line, std::string_view added) {
  if (line < 0 || static_cast<std::uint64_t>(line) > count_lines(text)) return std::nullopt;
  std::size_t at = offset_behind(text, static_cast<std::size_t>(line));
  const std::string_view before = text.substr(0, at);
  if (at == 0 && text.starts_with(kByteOrderMark)) at = kByteOrderMark.size();

  // The line end of the line before; at the top or behind an unfinished line, that of the first line.
  const std::size_t first_end = text.find('\n');
  const bool crlf = before.ends_with('\n')
                        ? before.ends_with("\r\n")
                        : first_end != std::string_view::npos && text.substr(0, first_end + 1).ends_with("\r\n");
  const std::string_view line_end = crlf ? "\r\n" : "\n";

  std::string out(text.substr(0, at));
  if (!before.empty() && !before.ends_with('\n')) out += line_end;
  out += crlf && !has_carriage_return(added) ? with_crlf(added) : std::string(added);
  if (!added.ends_with('\n')) out += line_end;
  out += text.substr(at);
  return out;
}

}  // namespace rookery::server

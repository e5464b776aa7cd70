// SPDX-License-Identifier: Apache-2.0
#include "server/http/syntax.h"

#include <algorithm>
#include <array>

namespace rookery::server::http {

namespace {

constexpr std::array<bool, 256> token_table() {
  std::array<bool, 256> table{};
  for (std::size_t c = 0; c < table.size(); ++c) {
    const char character = static_cast<char>(c);
    table[c] = is_digit(character) || is_alpha(character) ||
               std::string_view("!#$%&'*+-.^_`|~").find(character) != std::string_view::npos;
  }
  return table;
}
constexpr std::array<bool, 256> kToken = token_table();

}  // namespace

bool is_token_char(char c) noexcept { return kToken[static_cast<unsigned char>(c)]; }

bool is_token(std::string_view text) noexcept {
  return !text.empty() && std::all_of(text.begin(), text.end(), is_token_char);
}

bool is_field_value(std::string_view text) noexcept {
  return std::none_of(text.begin(), text.end(), [](char c) { return is_control(c) && c != '\t'; });
}

bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](char x, char y) { return to_lower(x) == to_lower(y); });
}

std::string lower(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), to_lower);
  return result;
}

std::string_view trim(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

bool list_has(std::string_view list, std::string_view token) noexcept {
  while (!list.empty()) {
    const std::size_t comma = list.find(',');
    if (equals_ignoring_case(trim(list.substr(0, comma)), token)) return true;
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  return false;
}

std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space) {
  std::string result;
  result.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '%') {
      if (text.size() - i < 3) return std::nullopt;
      const int high = hex_value(text[i + 1]);
      const int low = hex_value(text[i + 2]);
      if (high < 0 || low < 0) return std::nullopt;
      c = static_cast<char>(high * 16 + low);
      i += 2;
    } else if (c == '+' && plus_is_space) {
      c = ' ';
    }
    result.push_back(c);
  }
  return result;
}

}  // namespace rookery::server::http

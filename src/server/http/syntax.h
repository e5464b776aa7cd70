// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

// The small alphabet of RFC 9110 and RFC 3986. ASCII only, never the locale's.
namespace rookery::server::http {

[[nodiscard]] constexpr bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }
[[nodiscard]] constexpr bool is_alpha(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
[[nodiscard]] constexpr char to_lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}
// C0 controls and DEL; HTAB is one.
[[nodiscard]] constexpr bool is_control(char c) noexcept {
  return static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
}
// -1 when `c` is no hexadecimal digit.
[[nodiscard]] constexpr int hex_value(char c) noexcept {
  if (is_digit(c)) return c - '0';
  const char lower = to_lower(c);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}
// RFC 9110 5.6.2 tchar.
[[nodiscard]] bool is_token_char(char c) noexcept;
// One or more tchar.
[[nodiscard]] bool is_token(std::string_view text) noexcept;
// HTAB, SP, visible ASCII and obs-text (RFC 9110 5.5): no other control character.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;

[[nodiscard]] bool equals_ignoring_case(std::string_view a, std::string_view b) noexcept;
[[nodiscard]] std::string lower(std::string_view text);
// Without SP and HTAB at both ends.
[[nodiscard]] std::string_view trim(std::string_view text) noexcept;
// True when the comma-separated `list` has `token`, whatever its case.
[[nodiscard]] bool list_has(std::string_view list, std::string_view token) noexcept;

// Undoes percent-encoding once. nullopt for a '%' without two hexadecimal digits.
[[nodiscard]] std::optional<std::string> percent_decode(std::string_view text, bool plus_is_space = false);

}  // namespace rookery::server::http

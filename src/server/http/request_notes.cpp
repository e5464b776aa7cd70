// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_notes.h"

#include <algorithm>

#include "server/http/syntax.h"

namespace rookery::server::http {

namespace {

bool is_lower_hex(std::string_view text) noexcept {
  return std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || (c >= 'a' && c <= 'f'); });
}

bool is_id(std::string_view text) noexcept { return is_lower_hex(text) && text.find_first_not_of('0') != std::string_view::npos; }

}  // namespace

// https://www.w3.org/TR/trace-context/#traceparent-header: version "-" trace-id "-" parent-id "-" flags. Version 00 is
// exactly 55 characters long; a later one may go on behind another "-"; ff is none.
TraceParent parse_traceparent(std::string_view field) {
  constexpr std::size_t kLength = 55;
  if (field.size() < kLength || field[2] != '-' || field[35] != '-' || field[52] != '-') return {};
  const std::string_view version = field.substr(0, 2);
  const std::string_view trace_id = field.substr(3, 32);
  const std::string_view parent_id = field.substr(36, 16);
  const std::string_view flags = field.substr(53, 2);
  if (!is_lower_hex(version) || version == "ff" || !is_id(trace_id) || !is_id(parent_id) || !is_lower_hex(flags)) return {};
  if (field.size() > kLength && (version == "00" || field[kLength] != '-')) return {};
  return {std::string(trace_id), std::string(parent_id), (hex_value(flags[1]) & 1) != 0};
}

bool is_request_id(std::string_view text) noexcept {
  constexpr std::string_view kMarks = "._:/@+=-";
  return !text.empty() && text.size() <= 128 && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_alpha(c) || is_digit(c) || kMarks.find(c) != std::string_view::npos;
  });
}

}  // namespace rookery::server::http

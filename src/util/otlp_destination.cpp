// SPDX-License-Identifier: Apache-2.0
#include "util/otlp_destination.h"

#include <algorithm>
#include <charconv>

namespace rookery::util {

namespace {

bool is_visible(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

// RFC 9110 5.6.2.
bool is_token(std::string_view text) {
  return !text.empty() && is_visible(text) && text.find_first_of("\"(),/:;<=>?@[\\]{}") == std::string_view::npos;
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

std::optional<std::string> percent_decoded(std::string_view text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      result += text[i];
      continue;
    }
    unsigned value = 0;
    if (i + 2 >= text.size()) return std::nullopt;
    const auto [end, error] = std::from_chars(text.data() + i + 1, text.data() + i + 3, value, 16);
    if (error != std::errc() || end != text.data() + i + 3) return std::nullopt;
    result += static_cast<char>(value);
    i += 2;
  }
  return result;
}

bool is_port(std::string_view digits) {
  unsigned port = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  return error == std::errc() && end == digits.data() + digits.size() && port > 0 && port <= 65535;
}

}  // namespace

std::optional<OtlpEndpoint> parse_otlp_endpoint(std::string_view text) {
  const std::size_t scheme = text.starts_with("http://") ? 7 : text.starts_with("https://") ? 8 : 0;
  if (scheme == 0 || !is_visible(text) || text.find_first_of("@?#\\\"<>") != std::string_view::npos) return std::nullopt;
  const std::size_t slash = std::min(text.find('/', scheme), text.size());
  const std::string_view authority = text.substr(scheme, slash - scheme);
  std::string_view path = text.substr(slash);
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t colon = authority.rfind(':');
  const bool has_port = colon != std::string_view::npos && authority.find(']', colon) == std::string_view::npos;
  const std::string_view host = has_port ? authority.substr(0, colon) : authority;
  if (host.empty() || (has_port && !is_port(authority.substr(colon + 1)))) return std::nullopt;
  return OtlpEndpoint{std::string(text.substr(0, slash)), std::string(path)};
}

std::optional<OtlpHeaders> parse_otlp_headers(std::string_view text) {
  OtlpHeaders headers;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    const std::string_view entry = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (entry.empty()) continue;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos) return std::nullopt;
    const auto name = percent_decoded(trimmed(entry.substr(0, equals)));
    const auto value = percent_decoded(trimmed(entry.substr(equals + 1)));
    const auto is_control = [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; };
    if (!name || !value || !is_token(*name) || std::any_of(value->begin(), value->end(), is_control)) return std::nullopt;
    headers.emplace_back(*name, *value);
  }
  return headers;
}

}  // namespace rookery::util

// SPDX-License-Identifier: Apache-2.0
#include "server/http/target.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "server/http/syntax.h"

namespace rookery::server::http {

namespace {

constexpr std::size_t kMaxHost = 255;

bool is_ipv6(std::string_view text) {
  const std::string address(text);
  in6_addr parsed;
  return ::inet_pton(AF_INET6, address.c_str(), &parsed) == 1;
}

bool is_host_name_char(char c) noexcept {
  return is_alpha(c) || is_digit(c) || c == '.' || c == '-' || c == '_';
}

// Segments are split before they are decoded, so that an encoded slash stays inside its segment.
std::string_view split_path(std::string_view path, std::vector<std::string>& segments) {
  path.remove_prefix(1);
  for (;;) {
    const std::size_t slash = path.find('/');
    std::optional<std::string> segment = percent_decode(path.substr(0, slash));
    if (!segment) return "malformed percent-encoding in the path";
    if (segment->find('\0') != std::string::npos) return "NUL in the path";
    segments.push_back(*std::move(segment));
    if (slash == std::string_view::npos) return {};
    path.remove_prefix(slash + 1);
  }
}

std::string_view split_query(std::string_view text, std::map<std::string, std::string, std::less<>>& query) {
  while (!text.empty()) {
    const std::size_t end = text.find('&');
    const std::string_view pair = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const std::size_t equals = pair.find('=');
    std::optional<std::string> key = percent_decode(pair.substr(0, equals), true);
    std::optional<std::string> value =
        percent_decode(equals == std::string_view::npos ? std::string_view() : pair.substr(equals + 1), true);
    if (!key || !value) return "malformed percent-encoding in the query";
    if (key->find('\0') != std::string::npos || value->find('\0') != std::string::npos) {
      return "NUL in the query";
    }
    if (!query.emplace(*std::move(key), *std::move(value)).second) return "repeated query parameter";
  }
  return {};
}

}  // namespace

std::optional<Authority> parse_authority(std::string_view text) {
  std::size_t end;
  if (text.starts_with('[')) {
    end = text.find(']');
    if (end == std::string_view::npos || !is_ipv6(text.substr(1, end - 1))) return std::nullopt;
    ++end;
  } else {
    end = std::min(text.find(':'), text.size());
    const std::string_view host = text.substr(0, end);
    if (host.empty() || host.size() > kMaxHost || !std::all_of(host.begin(), host.end(), is_host_name_char)) {
      return std::nullopt;
    }
  }
  Authority authority{lower(text.substr(0, end)), std::nullopt};
  std::string_view rest = text.substr(end);
  if (rest.empty()) return authority;
  rest.remove_prefix(1);  // the colon, checked next
  if (text[end] != ':' || rest.empty() || rest.size() > 5 || !std::all_of(rest.begin(), rest.end(), is_digit)) {
    return std::nullopt;
  }
  unsigned port = 0;
  std::from_chars(rest.data(), rest.data() + rest.size(), port);
  if (port > 65535) return std::nullopt;
  authority.port = static_cast<std::uint16_t>(port);
  return authority;
}

std::string_view parse_target(std::string_view text, Target& target) {
  // RFC 3986 has no other characters; a fragment is never sent (RFC 9112 3.2).
  const auto allowed = [](char c) { return c > ' ' && c < 0x7f && c != '#'; };
  if (!std::all_of(text.begin(), text.end(), allowed)) return "invalid character in the request target";
  if (!text.starts_with('/')) {
    const std::size_t colon = text.find("://");
    const std::string_view scheme = text.substr(0, colon);
    if (colon == std::string_view::npos ||
        !(equals_ignoring_case(scheme, "http") || equals_ignoring_case(scheme, "https"))) {
      return "invalid request target";
    }
    text.remove_prefix(colon + 3);
    const std::size_t path = std::min(text.find_first_of("/?"), text.size());
    target.authority = parse_authority(text.substr(0, path));
    if (!target.authority) return "invalid authority in the request target";
    text.remove_prefix(path);
  }
  const std::size_t mark = std::min(text.find('?'), text.size());
  const std::string_view path = text.substr(0, mark);
  const std::string_view problem = split_path(path.empty() ? "/" : path, target.segments);
  if (!problem.empty()) return problem;
  return mark == text.size() ? std::string_view() : split_query(text.substr(mark + 1), target.query);
}

}  // namespace rookery::server::http

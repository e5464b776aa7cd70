// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

// The request target and the Host field (RFC 9112 section 3.2, RFC 3986).
namespace rookery::server::http {

struct Authority {
  std::string host;  // lower case; an IPv6 address with its brackets
  std::optional<std::uint16_t> port;
  bool operator==(const Authority&) const = default;
};

// A host with an optional port. Names of letters, digits, '.', '-' and '_', IPv4, and IPv6 in brackets:
// what a server is reached by. nullopt for everything else, user information and lists among it.
[[nodiscard]] std::optional<Authority> parse_authority(std::string_view text);

struct Target {
  std::vector<std::string> segments;
  std::map<std::string, std::string, std::less<>> query;
  std::optional<Authority> authority;  // of the absolute form
};

// `text` in origin form ("/a/b?c=d") or absolute form ("http://host/a"). "" when it was taken into
// `target`, else what is wrong with it.
[[nodiscard]] std::string_view parse_target(std::string_view text, Target& target);

}  // namespace rookery::server::http

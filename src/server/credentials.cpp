// SPDX-License-Identifier: Apache-2.0
#include "server/credentials.h"

#include <cstdint>

#include "server/http/syntax.h"

namespace rookery::server {

namespace {

// What stands behind the scheme and at least one space; empty for another scheme.
std::string_view of_scheme(std::string_view authorization, std::string_view scheme) noexcept {
  if (!http::equals_ignoring_case(authorization.substr(0, scheme.size()), scheme)) return {};
  const std::string_view rest = authorization.substr(scheme.size());
  return rest.starts_with(' ') ? http::trim(rest) : std::string_view{};
}

// RFC 4648 4, with its padding.
std::optional<std::string> decode_base64(std::string_view text) {
  constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (text.size() % 4 != 0) return std::nullopt;
  text.remove_suffix(text.ends_with("==") ? 2 : text.ends_with('=') ? 1 : 0);
  std::string bytes;
  std::uint32_t pending = 0;
  int bits = 0;
  for (const char c : text) {
    const std::size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) return std::nullopt;
    pending = pending << 6 | static_cast<std::uint32_t>(value);
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    bytes += static_cast<char>(pending >> bits & 0xff);
  }
  return bytes;
}

}  // namespace

std::string_view bearer_token(std::string_view authorization) noexcept { return of_scheme(authorization, "bearer"); }

std::optional<std::string> basic_password(std::string_view authorization) {
  const auto pair = decode_base64(of_scheme(authorization, "basic"));
  const std::size_t colon = pair ? pair->find(':') : std::string::npos;
  if (colon == std::string::npos) return std::nullopt;
  return pair->substr(colon + 1);
}

}  // namespace rookery::server

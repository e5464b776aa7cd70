// SPDX-License-Identifier: Apache-2.0
#include "server/access_tokens.h"

#include <algorithm>
#include <stdexcept>

namespace rookery::server {

namespace {

constexpr std::string_view kWhiteSpace = " \t\r";

bool is_visible(char c) { return c > 0x20 && c < 0x7f; }

std::string_view trimmed(std::string_view line) {
  const auto first = line.find_first_not_of(kWhiteSpace);
  return first == std::string_view::npos ? "" : line.substr(first, line.find_last_not_of(kWhiteSpace) - first + 1);
}

// Reads every byte of `given`, and through a volatile, so that no compiler ends the loop early.
bool equal(std::string_view token, std::string_view given) noexcept {
  volatile unsigned difference = token.size() == given.size() ? 0 : 1;
  for (std::size_t i = 0; i < given.size(); ++i) {
    difference = difference | static_cast<unsigned>(static_cast<unsigned char>(given[i]) ^ static_cast<unsigned char>(token[i % token.size()]));
  }
  return difference == 0;
}

}  // namespace

AccessTokens::AccessTokens(std::string_view text) {
  for (std::size_t start = 0, number = 1; start < text.size(); ++number) {
    const std::size_t end = std::min(text.find('\n', start), text.size());
    const std::string_view token = trimmed(text.substr(start, end - start));
    start = end + 1;
    if (token.empty()) continue;
    if (token.size() > kMostBytes || !std::all_of(token.begin(), token.end(), is_visible)) {
      throw std::invalid_argument("line " + std::to_string(number) + " of the access tokens is none: allowed are up to " +
                                  std::to_string(kMostBytes) + " visible ASCII characters without a space");
    }
    tokens_.emplace_back(token);
  }
  if (tokens_.empty()) throw std::invalid_argument("there is no access token: one a line is needed");
  if (tokens_.size() > kMostTokens) {
    throw std::invalid_argument("there are more than " + std::to_string(kMostTokens) + " access tokens");
  }
}

bool AccessTokens::contains(std::string_view given) const noexcept {
  unsigned found = 0;
  for (const std::string& token : tokens_) found |= equal(token, given) ? 1u : 0u;
  return found != 0;
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace rookery::server {

// The bearer tokens that are valid at the moment.
class AccessTokens {
 public:
  static constexpr std::size_t kMostTokens = 100;
  static constexpr std::size_t kMostBytes = 1024;  // of one token

  // One token a line, of visible ASCII characters; white space around it and empty lines do not count. Throws
  // std::invalid_argument, without repeating anything of `text`, when there is none, one too many, or one that no
  // Authorization field could hold.
  explicit AccessTokens(std::string_view text);

  // Takes a time that depends on the length of `given` and on the tokens, but not on how much of one it matches.
  [[nodiscard]] bool contains(std::string_view given) const noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return tokens_.size(); }

 private:
  std::vector<std::string> tokens_;
};

}  // namespace rookery::server

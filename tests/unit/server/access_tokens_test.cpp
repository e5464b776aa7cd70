// SPDX-License-Identifier: Apache-2.0
#include "server/access_tokens.h"

#include <doctest/doctest.h>

#include <stdexcept>

using rookery::server::AccessTokens;

namespace {

// What is said about a text that is refused.
std::string refusal(std::string_view text) {
  try {
    const AccessTokens tokens(text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("one token a line; white space around it and empty lines do not count") {
  const AccessTokens tokens("\n  first-token \r\n\nsecond/token==\n\tthird");
  CHECK(tokens.count() == 3);
  for (const char* valid : {"first-token", "second/token==", "third"}) CHECK(tokens.contains(valid));
  for (const char* wrong : {"", " ", "first", "first-token ", "first-tokenfirst-token", "first-tokex", "third\n", "THIRD"}) {
    CAPTURE(wrong);
    CHECK_FALSE(tokens.contains(wrong));
  }
}

TEST_CASE("a text without a usable token is refused, and nothing of it is repeated") {
  CHECK(refusal("") != "");
  CHECK(refusal(" \n\r\n") != "");
  const std::string texts[] = {"good\nse cret", "good\nse\x01" "cret", "good\ns\xc3\xa9" "cret", "good\n" + std::string(1025, 'x')};
  for (const std::string& text : texts) {
    const std::string said = refusal(text);
    CHECK(said.find("line 2") != std::string::npos);
    CHECK(said.find("cret") == std::string::npos);
    CHECK(said.find("xxx") == std::string::npos);
  }
  std::string many;
  for (int i = 0; i < 101; ++i) many += "token" + std::to_string(i) + "\n";
  CHECK(refusal(many).find("100") != std::string::npos);
}

// SPDX-License-Identifier: Apache-2.0
#include "cli/config_file.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace rookery;

namespace {

// What is said about a file with this text; empty when it is taken.
std::string complaint(std::string_view text) {
  try {
    cli::parse_config_file("f.json", text);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

bool says(std::string_view text, std::string_view words) { return complaint(text).find(words) != std::string::npos; }

}  // namespace

TEST_CASE("numbers and strings of a file become what the environment would hold") {
  const auto settings = cli::parse_config_file("f.json", R"({"SANDBOX_MAX_SESSIONS": 7, "LOG_LEVEL": "DEBUG"})");
  REQUIRE(settings.size() == 2);
  CHECK(settings[0].first->variable == "SANDBOX_MAX_SESSIONS");
  CHECK(settings[0].second == "7");
  CHECK(settings[1].second == "DEBUG");
  CHECK(cli::parse_config_file("f.json", "{}").empty());
}

TEST_CASE("what is not a table of settings is refused, and it is said why") {
  CHECK(says("", "f.json: "));
  CHECK(says("{", "f.json: "));
  CHECK(says("{} {}", "f.json: "));
  CHECK(says("[]", "not a JSON object"));
  CHECK(says(R"({"SANDBOX_MAX_SESSION": 7})", "\"SANDBOX_MAX_SESSION\" is no setting"));
  CHECK(says(R"({"SANDBOX_POOL_SIZE": 1, "SANDBOX_POOL_SIZE": 2})", "SANDBOX_POOL_SIZE stands there twice"));
  CHECK(says(R"({"SANDBOX_CONFIG": "/etc/other.json"})", "cannot stand in the file itself"));
}

TEST_CASE("a value of the wrong type is refused") {
  for (const char* text : {R"({"SANDBOX_MAX_SESSIONS": "7"})", R"({"SANDBOX_MAX_SESSIONS": 7.0})", R"({"SANDBOX_MAX_SESSIONS": true})",
                           R"({"SANDBOX_MAX_SESSIONS": null})", R"({"LOG_LEVEL": 1})", R"({"LOG_LEVEL": ["INFO"]})"}) {
    CAPTURE(text);
    CHECK(says(text, "wrong type: allowed is "));
  }
}

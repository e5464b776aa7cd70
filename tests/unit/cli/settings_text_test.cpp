// SPDX-License-Identifier: Apache-2.0
#include "cli/settings_text.h"

#include <doctest/doctest.h>
#include <rapidjson/document.h>

#include <algorithm>

using namespace rookery;

namespace {

std::size_t lines(const std::string& text) { return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')); }

}  // namespace

TEST_CASE("help and README's table name every setting") {
  const std::string help = cli::settings_help(), table = cli::settings_markdown();
  for (const util::Setting* setting : util::all_settings()) {
    CHECK(help.find(setting->variable + "\n") != std::string::npos);
    CHECK(table.find("| `" + setting->variable + "` |") != std::string::npos);
  }
  CHECK(lines(table) == util::all_settings().size() + 2);
  CHECK(help.find('`') == std::string::npos);
}

TEST_CASE("the listing has one line a setting, with value and source") {
  cli::Configuration configuration;
  configuration.settings.max_sessions = 9;
  configuration.sources["SANDBOX_MAX_SESSIONS"] = "environment";
  const std::string listing = cli::config_listing(configuration);
  CHECK(lines(listing) == util::all_settings().size());
  const auto at = listing.find("SANDBOX_MAX_SESSIONS ");
  const std::string line = listing.substr(at, listing.find('\n', at) - at);
  CHECK(line.find(" 9 ") != std::string::npos);
  CHECK(line.ends_with("  environment"));
}

TEST_CASE("the listing is JSON on request") {
  rapidjson::Document document;
  document.Parse(cli::config_json({}).c_str());
  REQUIRE(document.IsObject());
  CHECK(document.MemberCount() == util::all_settings().size());
  CHECK(std::string(document["SANDBOX_POOL_SIZE"]["value"].GetString()) == "8");
  CHECK(std::string(document["SANDBOX_POOL_SIZE"]["source"].GetString()) == "default");
}

TEST_CASE("text is wrapped between words") {
  CHECK(cli::wrapped("a bb ccc", 6, 2) == "  a bb\n  ccc\n");
  CHECK(cli::wrapped("", 6, 2).empty());
}

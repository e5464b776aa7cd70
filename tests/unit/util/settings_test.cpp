// SPDX-License-Identifier: Apache-2.0
#include "util/settings.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <set>
#include <stdexcept>
#include <utility>

#include "util/settings_table.h"

using namespace rookery::util;

namespace {

std::string refusal(const char* variable, const std::string& value) {
  Settings settings;
  try {
    assign(*find_setting(variable), settings, variable, value);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("every row has a name, a flag and a help of its own, and a default that it accepts") {
  std::set<std::string> variables, flags, helps;
  const Settings settings;
  for (const Setting* setting : all_settings()) {
    CAPTURE(setting->variable);
    CHECK(variables.insert(setting->variable).second);
    CHECK(helps.insert(setting->help).second);
    CHECK_FALSE(setting->allowed.empty());
    CHECK(setting->get(settings) == setting->fallback);
    CHECK(find_setting(setting->variable) == setting);
    CHECK((setting->secret ? setting->flag().empty() : flags.insert(setting->flag()).second));
    if (!setting->secret) CHECK(find_setting_by_flag(setting->flag()) == setting);
  }
}

TEST_CASE("a value that was taken over is what is in force") {
  for (const Setting* setting : all_settings()) {
    CAPTURE(setting->variable);
    Settings settings;
    const std::string value = setting->words.empty() ? setting->fallback : setting->words.back();
    if (value.empty()) continue;
    assign(*setting, settings, setting->variable, value);
    CHECK(setting->get(settings) == value);
  }
}

TEST_CASE("a wrong value is refused with its name, what was given and what is allowed") {
  CHECK(refusal("SANDBOX_MAX_SESSIONS", "many") == "SANDBOX_MAX_SESSIONS=\"many\" is not usable: allowed is a whole number from 1 to 10000");
  for (const char* wrong : {"0", "10001", "-1", "+1", "1.0", " 1", "1 ", "0x1", "", "99999999999999999999"}) {
    CAPTURE(wrong);
    CHECK(refusal("SANDBOX_MAX_SESSIONS", wrong) != "");
  }
  CHECK(refusal("SANDBOX_SPAWN", "magic") == "SANDBOX_SPAWN=\"magic\" is not usable: allowed is one of fork, exec");
  CHECK(refusal("SANDBOX_PYTHON", "python3") != "");
  CHECK(refusal("ENVIRONMENT", "two\nlines") != "");
  CHECK(refusal("LOG_LEVEL", "info") != "");
}

TEST_CASE("the address to listen on") {
  const auto listen = [](const std::string& value) {
    Settings settings;
    assign(*find_setting("SANDBOX_LISTEN"), settings, "--listen", value);
    return settings;
  };
  CHECK(listen("[::1]:80").listen_host == "::1");
  CHECK(listen("localhost:0").listen_port == 0);
  CHECK(find_setting("SANDBOX_LISTEN")->get(listen("[::1]:80")) == "[::1]:80");
  for (const char* wrong : {"nonsense", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0x50", "127.0.0.1:70000", ":80", ":"}) {
    CAPTURE(wrong);
    CHECK(refusal("SANDBOX_LISTEN", wrong) != "");
  }
}

TEST_CASE("what is exported to the environment is read back from it") {
  Settings settings;
  settings.max_sessions = 7;
  settings.workspace_on_disk = true;
  settings.jail_userns = JailUserns::kFlat;
  settings.listen_host = "::1";
  ::setenv("SANDBOX_POOL_SIZE", "3", 1);
  export_settings(settings);
  CHECK(std::getenv("SANDBOX_POOL_SIZE") == nullptr);
  const Settings read = settings_from_environment();
  for (const Setting* setting : all_settings()) CHECK(setting->get(read) == setting->get(settings));
  export_settings(Settings());
  CHECK(std::getenv("SANDBOX_MAX_SESSIONS") == nullptr);
}

TEST_CASE("the access token is in no environment, another secret until it is read, and a wrong one is not repeated") {
  Settings settings;
  settings.auth_token = "hush";
  settings.telemetry_headers = "authorization=hush";
  ::setenv("SANDBOX_AUTH_TOKEN", "hush", 1);
  export_settings(settings);
  CHECK(std::getenv("SANDBOX_AUTH_TOKEN") == nullptr);
  CHECK(std::getenv("TELEMETRY_OTLP_HEADERS") != nullptr);
  forget_secrets();  // as the processes do that are started with it
  CHECK(std::getenv("TELEMETRY_OTLP_HEADERS") == nullptr);
  CHECK(refusal("SANDBOX_AUTH_TOKEN", "hu\nsh").find("hu") == std::string::npos);
}

TEST_CASE("a unix socket to listen on") {
  Settings settings;
  const Setting& listen = *find_setting("SANDBOX_LISTEN");
  assign(listen, settings, "--listen", "unix:/run/rookery.sock");
  CHECK(settings.listen_path == "/run/rookery.sock");
  CHECK(listen.get(settings) == "unix:/run/rookery.sock");
  assign(listen, settings, "--listen", "127.0.0.1:1");
  CHECK(settings.listen_path.empty());
  CHECK(refusal("SANDBOX_LISTEN", "unix:") != "");
  CHECK(refusal("SANDBOX_LISTEN", "unix:relative") != "");
  CHECK(refusal("SANDBOX_LISTEN_MODE", "0888") != "");
  CHECK(refusal("SANDBOX_LISTEN_MODE", "1777") != "");
  CHECK(refusal("SANDBOX_TENANT_HEADER", "X Tenant") != "");
}

TEST_CASE("a node's label is four lower-case hex digits") {
  for (const auto& [given, label] : {std::pair{"1", "0001"}, {"0A7f", "0a7f"}, {"ffff", "ffff"}}) {
    Settings settings;
    assign(*find_setting("SANDBOX_NODE_ID"), settings, "SANDBOX_NODE_ID", given);
    CHECK(settings.node_id == label);
  }
  for (const char* wrong : {"12345", "0x1", "g", "-1", " 1"}) CHECK(refusal("SANDBOX_NODE_ID", wrong) != "");
}

TEST_CASE("images are named roots; a name that is none of theirs is the default") {
  Settings settings;
  CHECK(image_index(settings, "a") == 0);
  assign(*find_setting("SANDBOX_IMAGES"), settings, "SANDBOX_IMAGES", "a=/x,py3.9:b=/y=z");
  REQUIRE(settings.images.size() == 2);
  CHECK(settings.images[1].root == "/y=z");
  CHECK(image_index(settings, "a") == 1);
  CHECK(image_index(settings, "py3.9:b") == 2);
  for (const char* name : {"", "A", "a ", "aa", "default", "/x"}) CHECK(image_index(settings, name) == 0);
  for (const char* wrong : {"x", "x=", "x=relative", "=/x", "default=/x", "a/b=/x", ".a=/x", "a=/x,a=/y", "a=/x,,b=/y", "a=/x,"}) {
    CAPTURE(wrong);
    CHECK(refusal("SANDBOX_IMAGES", wrong) != "");
  }
}

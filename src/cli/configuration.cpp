// SPDX-License-Identifier: Apache-2.0
#include "cli/configuration.h"

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "cli/config_file.h"

namespace rookery::cli {

namespace {

using util::Setting;

struct Given {
  const Setting* setting;
  std::string name;  // the flag, as it was written
  std::string value;
};

std::vector<Given> take_flags(std::vector<std::string>& arguments) {
  std::vector<Given> flags;
  std::vector<std::string> rest;
  std::size_t i = 0;
  for (; i < arguments.size() && arguments[i] != "--"; ++i) {
    const std::string& argument = arguments[i];
    const auto equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    const Setting* setting = util::find_setting_by_flag(name);
    if (setting == nullptr) {
      rest.push_back(argument);
    } else if (equals != std::string::npos) {
      flags.push_back({setting, name, argument.substr(equals + 1)});
    } else if (setting->kind == Setting::Kind::kSwitch) {
      flags.push_back({setting, name, "1"});
    } else if (i + 1 < arguments.size()) {
      flags.push_back({setting, name, arguments[++i]});
    } else {
      throw std::invalid_argument(name + " needs a value: allowed is " + setting->allowed);
    }
  }
  rest.insert(rest.end(), arguments.begin() + static_cast<std::ptrdiff_t>(i), arguments.end());
  arguments = std::move(rest);
  return flags;
}

// A secret that was read is taken out of /proc/PID/environ, whose bytes are these.
void wipe(char* value) { ::explicit_bzero(value, std::strlen(value)); }

char* in_environment(const Setting& setting) {
  char* value = std::getenv(setting.variable.c_str());
  return value != nullptr && *value != '\0' ? value : nullptr;
}

// Where the XDG base directory specification puts an ordinary user's state; without a home directory root's default stays.
void choose_sessions_root(util::Settings& settings) {
  if (::geteuid() == 0) return;
  const char* state = std::getenv("XDG_STATE_HOME");
  const char* home = std::getenv("HOME");
  if (state != nullptr && state[0] == '/') {
    settings.sessions_root = std::string(state) + "/rookery/sessions";
  } else if (home != nullptr && home[0] == '/') {
    settings.sessions_root = std::string(home) + "/.local/state/rookery/sessions";
  }
}

void apply_file(Configuration& configuration, const std::string& path) {
  for (const auto& [setting, value] : read_config_file(path)) {
    if (value.empty()) continue;
    util::assign(*setting, configuration.settings, path + ": " + setting->variable, value);
    configuration.sources[setting->variable] = "file " + path;
  }
}

}  // namespace

Configuration read_configuration(std::vector<std::string>& arguments) {
  const std::vector<Given> flags = take_flags(arguments);
  Configuration configuration;
  choose_sessions_root(configuration.settings);
  const Setting* const file = util::find_setting("SANDBOX_CONFIG");
  std::string path;
  if (const char* value = in_environment(*file)) path = value;
  for (const Given& flag : flags) {
    if (flag.setting == file) path = flag.value;
  }
  if (!path.empty()) apply_file(configuration, path);
  for (const Setting* setting : util::all_settings()) {
    char* value = in_environment(*setting);
    if (value == nullptr) continue;
    util::assign(*setting, configuration.settings, setting->variable, value);
    if (setting->secret) wipe(value);
    configuration.sources[setting->variable] = "environment";
  }
  for (const Given& flag : flags) {
    util::assign(*flag.setting, configuration.settings, flag.name, flag.value);
    configuration.sources[flag.setting->variable] = "flag " + flag.name;
  }
  return configuration;
}

}  // namespace rookery::cli

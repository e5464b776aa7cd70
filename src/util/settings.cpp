// SPDX-License-Identifier: Apache-2.0
#include "util/settings.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "util/settings_table.h"

namespace rookery::util {

namespace {

constexpr std::string_view kSharedUid = "shared-uid";
constexpr std::string_view kNoCgroup = "no-cgroup";

// How Settings::weaker reaches the processes that `rookery serve` starts.
constexpr const char* kWeakerVariable = "ROOKERY_WEAKER";

}  // namespace

std::string Weaker::text() const {
  std::string names;
  if (shared_uid) names += kSharedUid;
  if (no_cgroup) names += (names.empty() ? "" : ",") + std::string(kNoCgroup);
  return names;
}

bool Weaker::parse(std::string_view text, Weaker& into) {
  Weaker parsed;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (word != kSharedUid && word != kNoCgroup) return false;
    (word == kSharedUid ? parsed.shared_uid : parsed.no_cgroup) = true;
  }
  into = parsed;
  return true;
}

void set_weaker(Settings& settings, const Weaker& weaker) {
  settings.weaker = weaker;
  ::setenv(kWeakerVariable, weaker.text().c_str(), 1);
}

std::string Setting::flag() const {
  if (secret) return "";
  std::string name = variable.starts_with("SANDBOX_") ? variable.substr(8) : variable;
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return c == '_' ? '-' : static_cast<char>(std::tolower(c)); });
  return "--" + name;
}

const std::vector<const Setting*>& all_settings() {
  static const std::vector<const Setting*> all = [] {
    std::vector<const Setting*> rows;
    for (const SettingGroup& group : setting_groups()) {
      for (const Setting& setting : group.settings) rows.push_back(&setting);
    }
    return rows;
  }();
  return all;
}

const Setting* find_setting(std::string_view variable) {
  for (const Setting* setting : all_settings()) {
    if (setting->variable == variable) return setting;
  }
  return nullptr;
}

const Setting* find_setting_by_flag(std::string_view flag) {
  for (const Setting* setting : all_settings()) {
    if (!setting->secret && setting->flag() == flag) return setting;
  }
  return nullptr;
}

void assign(const Setting& setting, Settings& settings, const std::string& name, std::string_view value) {
  if (!value.empty() && setting.set(settings, value)) return;
  const std::string shown = setting.secret ? "(hidden)" : "\"" + std::string(value) + "\"";
  throw std::invalid_argument(name + "=" + shown + " is not usable: allowed is " + setting.allowed);
}

Settings::Settings() {
  for (const Setting* setting : all_settings()) {
    if (!setting->fallback.empty() && !setting->set(*this, setting->fallback)) {
      throw std::logic_error("the default of " + setting->variable + " is not allowed");
    }
  }
}

std::uint32_t image_index(const Settings& settings, std::string_view name) noexcept {
  for (std::size_t i = 0; i < settings.images.size(); ++i) {
    if (settings.images[i].name == name) return static_cast<std::uint32_t>(i + 1);
  }
  return 0;
}

Settings settings_from_environment() {
  Settings settings;
  for (const Setting* setting : all_settings()) {
    const char* value = std::getenv(setting->variable.c_str());
    if (value != nullptr && *value != '\0') assign(*setting, settings, setting->variable, value);
  }
  const char* weaker = std::getenv(kWeakerVariable);
  if (weaker != nullptr && !Weaker::parse(weaker, settings.weaker)) throw std::invalid_argument(std::string(kWeakerVariable) + " is set by rookery serve only");
  return settings;
}

void forget_secrets() {
  for (const Setting* setting : all_settings()) {
    if (!setting->secret) continue;
    if (char* value = std::getenv(setting->variable.c_str())) ::explicit_bzero(value, std::strlen(value));
    ::unsetenv(setting->variable.c_str());
  }
}

void export_settings(Settings settings) {
  settings.auth_token.clear();
  for (const Setting* setting : all_settings()) {
    const std::string value = setting->get(settings);
    if (value == setting->fallback) {
      ::unsetenv(setting->variable.c_str());
    } else {
      ::setenv(setting->variable.c_str(), value.c_str(), 1);
    }
  }
}

}  // namespace rookery::util

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "util/settings.h"

// The one table of settings. It drives the command line, the environment, the configuration file, their checks, `--help`,
// `rookery config`, README's table, the man page and the completion. A new setting is a member of Settings and a row.
namespace rookery::util {

struct Setting {
  enum class Kind { kNumber, kSwitch, kText };

  std::string variable;  // its name in the environment and in a configuration file
  std::string fallback;  // the default, as it would be given; may be empty
  std::string unit;      // of a number: "seconds", "MiB", …; may be empty
  std::string allowed;   // what is accepted, as the end of a sentence: "a whole number from 1 to 10000"
  std::string help;      // what it is for; names that are typed stand in `backticks`
  Kind kind = Kind::kText;
  bool secret = false;  // never shown, has no flag
  std::vector<std::string> words;  // all that is accepted, where that is a short list

  // Takes over a value, which is not empty; false where it is not allowed.
  std::function<bool(Settings&, std::string_view)> set;
  // What is in force, as it would be given.
  std::function<std::string(const Settings&)> get;

  // "--max-sessions" for SANDBOX_MAX_SESSIONS; empty for a secret, which has no place on a command line.
  [[nodiscard]] std::string flag() const;
};

struct SettingGroup {
  std::string title;
  std::vector<Setting> settings;
};

const std::vector<SettingGroup>& setting_groups();

// All rows, in the order of the groups.
const std::vector<const Setting*>& all_settings();

// The row of a variable, or of a flag; null where there is none.
const Setting* find_setting(std::string_view variable);
const Setting* find_setting_by_flag(std::string_view flag);

// Takes over a value. Throws std::invalid_argument that says `name` (the variable or flag, as the operator wrote it), the
// value and what is allowed; empty is not. A secret's value is not repeated.
void assign(const Setting& setting, Settings& settings, const std::string& name, std::string_view value);

}  // namespace rookery::util

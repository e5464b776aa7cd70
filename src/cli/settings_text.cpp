// SPDX-License-Identifier: Apache-2.0
#include "cli/settings_text.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "contract/json_string.h"

namespace rookery::cli {

namespace {

using util::Setting;

constexpr std::size_t kWidth = 100;
constexpr std::string_view kMask = "********";

std::string without_backticks(std::string text) {
  std::erase(text, '`');
  return text;
}

std::string capitalized(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string code(const std::string& text) { return text.empty() ? "" : "`" + text + "`"; }

// "900 seconds", or "" where nothing is set.
std::string with_unit(const Setting& setting) {
  return setting.fallback + (setting.unit.empty() || setting.fallback.empty() ? "" : " " + setting.unit);
}

std::string shown(const Setting& setting, const util::Settings& settings) {
  const std::string value = setting.get(settings);
  return setting.secret && !value.empty() ? std::string(kMask) : value;
}

std::string source(const Configuration& configuration, const Setting& setting) {
  const auto found = configuration.sources.find(setting.variable);
  return found == configuration.sources.end() ? "default" : found->second;
}

}  // namespace

std::string wrapped(std::string_view text, std::size_t width, std::size_t indent) {
  std::string result, line;
  std::istringstream words{std::string(text)};
  for (std::string word; words >> word;) {
    if (!line.empty() && indent + line.size() + 1 + word.size() > width) {
      result += std::string(indent, ' ') + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return result + (line.empty() ? "" : std::string(indent, ' ') + line + "\n");
}

std::string settings_help() {
  std::string help;
  for (const util::SettingGroup& group : util::setting_groups()) {
    help += "\n" + group.title + "\n";
    for (const Setting& setting : group.settings) {
      const std::string value = setting.kind == Setting::Kind::kSwitch ? "" : setting.kind == Setting::Kind::kNumber ? " N" : " VALUE";
      help += "  " + (setting.secret ? "" : setting.flag() + value + ", ") + setting.variable + "\n";
      std::string text = capitalized(setting.help) + ". " + capitalized(setting.allowed) +
                         (setting.unit.empty() ? "" : " (" + setting.unit + ")") +
                         (setting.fallback.empty() ? "." : "; default " + with_unit(setting) + ".");
      help += wrapped(without_backticks(text), kWidth, 6);
    }
  }
  return help;
}

std::string settings_markdown() {
  std::string table = "| flag | variable | default | allowed | meaning |\n|---|---|---|---|---|\n";
  for (const Setting* setting : util::all_settings()) {
    const std::string fallback = setting->kind == Setting::Kind::kNumber ? with_unit(*setting) : code(setting->fallback);
    table += "| " + code(setting->flag()) + " | " + code(setting->variable) + " | " + fallback + " | " + setting->allowed + " | " +
             setting->help + " |\n";
  }
  return table;
}

std::string config_listing(const Configuration& configuration) {
  std::size_t names = 0, values = 0;
  for (const Setting* setting : util::all_settings()) {
    names = std::max(names, setting->variable.size());
    values = std::max(values, shown(*setting, configuration.settings).size());
  }
  std::string listing;
  for (const Setting* setting : util::all_settings()) {
    const std::string value = shown(*setting, configuration.settings);
    listing += setting->variable + std::string(names + 2 - setting->variable.size(), ' ') + value +
               std::string(values + 2 - value.size(), ' ') + source(configuration, *setting) + "\n";
  }
  return listing;
}

std::string config_json(const Configuration& configuration) {
  std::string json;
  const auto add = [&json](const std::string& text) { contract::append_json_string(json, text); };
  for (const Setting* setting : util::all_settings()) {
    json += json.empty() ? "{\n  " : ",\n  ";
    add(setting->variable);
    json += ": {\"value\": ";
    add(shown(*setting, configuration.settings));
    json += ", \"default\": ";
    add(setting->fallback);
    json += ", \"source\": ";
    add(source(configuration, *setting));
    json += "}";
  }
  return json + "\n}\n";
}

}  // namespace rookery::cli

// SPDX-License-Identifier: Apache-2.0
#include "cli/config_file.h"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <set>
#include <stdexcept>

#include "sys/file.h"

namespace rookery::cli {

namespace {

using util::Setting;

std::string kind_name(Setting::Kind kind) {
  switch (kind) {
    case Setting::Kind::kNumber: return "a number";
    case Setting::Kind::kSwitch: return "true or false";
    case Setting::Kind::kText: break;
  }
  return "a string";
}

// As it would be given in the environment. Empty with `good` false: of the wrong type.
std::string as_text(const rapidjson::Value& value, Setting::Kind kind, bool& good) {
  if (kind == Setting::Kind::kNumber && value.IsUint64()) return std::to_string(value.GetUint64());
  if (kind == Setting::Kind::kNumber && value.IsInt64()) return std::to_string(value.GetInt64());
  if (kind == Setting::Kind::kSwitch && value.IsBool()) return value.GetBool() ? "1" : "0";
  if (kind == Setting::Kind::kText && value.IsString()) return {value.GetString(), value.GetStringLength()};
  good = false;
  return "";
}

}  // namespace

FileSettings parse_config_file(const std::string& path, std::string_view text) {
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(text.data(), text.size());
  if (document.HasParseError()) {
    throw std::invalid_argument(path + ": " + rapidjson::GetParseError_En(document.GetParseError()) + " (byte " +
                                std::to_string(document.GetErrorOffset()) + ")");
  }
  if (!document.IsObject()) throw std::invalid_argument(path + ": not a JSON object of settings");
  FileSettings found;
  std::set<const Setting*> seen;
  for (const auto& member : document.GetObject()) {
    const std::string name(member.name.GetString(), member.name.GetStringLength());
    const Setting* const setting = util::find_setting(name);
    if (setting == nullptr) {
      throw std::invalid_argument(path + ": \"" + name + "\" is no setting (`rookery config` lists all of them)");
    }
    if (name == "SANDBOX_CONFIG") throw std::invalid_argument(path + ": SANDBOX_CONFIG cannot stand in the file itself");
    if (!seen.insert(setting).second) throw std::invalid_argument(path + ": " + name + " stands there twice");
    bool good = true;
    std::string value = as_text(member.value, setting->kind, good);
    if (!good) {
      throw std::invalid_argument(path + ": " + name + " has a value of the wrong type: allowed is " + kind_name(setting->kind) +
                                  ", " + setting->allowed);
    }
    found.emplace_back(setting, std::move(value));
  }
  return found;
}

FileSettings read_config_file(const std::string& path) {
  std::string text;
  try {
    text = sys::read_file(path);
  } catch (const std::exception& error) {
    throw std::invalid_argument(std::string("the configuration file cannot be read: ") + error.what());
  }
  return parse_config_file(path, text);
}

}  // namespace rookery::cli

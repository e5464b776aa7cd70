// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "util/settings_table.h"

// The kinds of rows that util/settings_table.cpp is made of.
namespace rookery::util {

// A whole number in decimal, nothing around it.
inline bool parse_number(std::string_view text, std::uint32_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

inline Setting number(std::uint32_t Settings::*member, std::string variable, std::uint32_t fallback, std::string unit,
                      std::uint32_t least, std::uint32_t most, std::string help) {
  Setting row;
  row.variable = std::move(variable);
  row.fallback = std::to_string(fallback);
  row.unit = std::move(unit);
  row.allowed = "a whole number from " + std::to_string(least) + " to " + std::to_string(most);
  row.help = std::move(help);
  row.kind = Setting::Kind::kNumber;
  row.set = [=](Settings& settings, std::string_view text) {
    std::uint32_t value = 0;
    if (!parse_number(text, value) || value < least || value > most) return false;
    settings.*member = value;
    return true;
  };
  row.get = [=](const Settings& settings) { return std::to_string(settings.*member); };
  return row;
}

template <typename T>
struct Word {
  std::string word;
  T value;
};

// One of a few words.
template <typename T>
Setting choice(T Settings::*member, std::string variable, std::vector<Word<T>> choices, std::string fallback,
               std::string help) {
  Setting row;
  row.variable = std::move(variable);
  row.fallback = std::move(fallback);
  row.help = std::move(help);
  for (const Word<T>& one : choices) {
    row.words.push_back(one.word);
    row.allowed += (row.allowed.empty() ? "one of " : ", ") + one.word;
  }
  row.set = [=](Settings& settings, std::string_view text) {
    const auto found = std::find_if(choices.begin(), choices.end(), [&](const Word<T>& one) { return one.word == text; });
    if (found == choices.end()) return false;
    settings.*member = found->value;
    return true;
  };
  row.get = [=](const Settings& settings) {
    return std::find_if(choices.begin(), choices.end(), [&](const Word<T>& one) { return one.value == settings.*member; })->word;
  };
  return row;
}

inline Setting choice(std::string Settings::*member, std::string variable, const std::vector<std::string>& words,
                      std::string fallback, std::string help) {
  std::vector<Word<std::string>> choices;
  for (const std::string& word : words) choices.push_back({word, word});
  return choice(member, std::move(variable), std::move(choices), std::move(fallback), std::move(help));
}

// On or off; off by default unless `fallback` is "1". Its flag alone means on.
inline Setting toggle(bool Settings::*member, std::string variable, std::string fallback, std::string help) {
  Setting row = choice(member, std::move(variable),
                       std::vector<Word<bool>>{{"1", true}, {"0", false}, {"true", true}, {"false", false}},
                       std::move(fallback), std::move(help));
  row.kind = Setting::Kind::kSwitch;
  row.words = {"0", "1"};
  row.allowed = "1 or true, 0 or false";
  return row;
}

// One that is read and written in its own way; `allowed` says what is accepted.
inline Setting custom(std::string variable, std::string fallback, std::string allowed, decltype(Setting::set) set,
                      decltype(Setting::get) get, std::string help) {
  Setting row;
  row.variable = std::move(variable);
  row.fallback = std::move(fallback);
  row.allowed = std::move(allowed);
  row.help = std::move(help);
  row.set = std::move(set);
  row.get = std::move(get);
  return row;
}

// Any text that `valid` accepts; `allowed` says what that is.
inline Setting text(std::string Settings::*member, std::string variable, std::string fallback, std::string allowed,
                    bool (*valid)(std::string_view), std::string help) {
  const auto set = [=](Settings& settings, std::string_view value) {
    if (!valid(value)) return false;
    settings.*member = value;
    return true;
  };
  return custom(std::move(variable), std::move(fallback), std::move(allowed), set,
                [=](const Settings& settings) { return settings.*member; }, std::move(help));
}

// Everything but control characters, which would end or hide in a line of a log.
inline bool is_one_line(std::string_view value) {
  return std::none_of(value.begin(), value.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

inline Setting text(std::string Settings::*member, std::string variable, std::string fallback, std::string help) {
  return text(member, std::move(variable), std::move(fallback), "text of one line", &is_one_line, std::move(help));
}

inline Setting path(std::string Settings::*member, std::string variable, std::string fallback, std::string help) {
  return text(member, std::move(variable), std::move(fallback), "an absolute path",
              [](std::string_view value) { return value.front() == '/' && is_one_line(value); }, std::move(help));
}

// Masked wherever it would be shown, and without a flag.
inline Setting secret(Setting row) {
  row.secret = true;
  return row;
}

}  // namespace rookery::util

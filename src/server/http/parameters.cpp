// SPDX-License-Identifier: Apache-2.0
#include "server/http/parameters.h"

#include "server/http/syntax.h"

namespace rookery::server::http {

namespace {

std::string_view skip_space(std::string_view text) noexcept {
  const std::size_t first = text.find_first_not_of(" \t");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

std::string_view take_token(std::string_view& text) noexcept {
  std::size_t end = 0;
  while (end < text.size() && is_token_char(text[end])) ++end;
  const std::string_view token = text.substr(0, end);
  text.remove_prefix(end);
  return token;
}

// `text` starts behind the opening quote; leaves it behind the closing one.
std::optional<std::string> take_quoted(std::string_view& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '"') {
      text.remove_prefix(i + 1);
      return result;
    }
    if (text[i] == '\\' && i + 1 < text.size() && (text[i + 1] == '"' || text[i + 1] == '\\')) ++i;
    result.push_back(text[i]);
  }
  return std::nullopt;
}

}  // namespace

const std::string* ParameterList::find(std::string_view name) const noexcept {
  for (const auto& [key, entry] : entries) {
    if (key == name) return &entry;
  }
  return nullptr;
}

std::optional<ParameterList> parse_parameters(std::string_view text) {
  const std::size_t end = text.find(';');
  ParameterList list{lower(trim(text.substr(0, end))), {}};
  if (list.value.empty()) return std::nullopt;
  text.remove_prefix(end == std::string_view::npos ? text.size() : end);
  while (!text.empty()) {
    if (text.front() != ';') return std::nullopt;
    text = skip_space(text.substr(1));
    if (text.empty() || text.front() == ';') continue;
    std::string name = lower(take_token(text));
    if (name.empty() || !text.starts_with('=') || list.find(name) != nullptr) return std::nullopt;
    text.remove_prefix(1);
    std::string entry;
    if (text.starts_with('"')) {
      text.remove_prefix(1);
      std::optional<std::string> quoted = take_quoted(text);
      if (!quoted) return std::nullopt;
      entry = *std::move(quoted);
    } else {
      entry = take_token(text);
      if (entry.empty()) return std::nullopt;
    }
    list.entries.emplace_back(std::move(name), std::move(entry));
    text = skip_space(text);
  }
  return list;
}

}  // namespace rookery::server::http

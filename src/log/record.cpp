// SPDX-License-Identifier: Apache-2.0
#include "log/record.h"

#include <algorithm>
#include <array>
#include <cstdio>

#include "util/utf8.h"

namespace rookery::log {

namespace {

char32_t decode(std::string_view character) noexcept {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first;
  char32_t value = first & (0x7fU >> character.size());
  for (const char c : character.substr(1)) value = value << 6 | (static_cast<unsigned char>(c) & 0x3fU);
  return value;
}

void append_code_unit(std::string& out, unsigned unit) {
  char code[8];
  std::snprintf(code, sizeof code, "\\u%04x", unit);
  out += code;
}

bool is_plain(char c) noexcept { return c >= 0x20 && c < 0x7f && c != '"' && c != '\\'; }

// What stands in a text line without quotes.
bool is_bare(std::string_view text) noexcept {
  constexpr std::string_view kMarks = "._:/@+-";
  return std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || kMarks.find(c) != std::string_view::npos;
  });
}

void append_number(std::string& out, const Field& field) {
  if (const auto* integer = std::get_if<std::int64_t>(&field.value)) {
    out += std::to_string(*integer);
    return;
  }
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.3f", std::get<double>(field.value));
  out += text.data();
}

}  // namespace

std::string_view name(Level level) noexcept {
  switch (level) {
    case Level::kDebug: return "DEBUG";
    case Level::kInfo: return "INFO";
    case Level::kWarning: return "WARNING";
    case Level::kError: return "ERROR";
    case Level::kCritical: return "CRITICAL";
  }
  return {};
}

void append_escaped(std::string& out, std::string_view text) {
  out += '"';
  while (!text.empty()) {
    if (is_plain(text.front())) {
      out += text.front();
      text.remove_prefix(1);
      continue;
    }
    const util::Utf8Step step = util::utf8_step(text);
    const char32_t point = step.valid ? decode(text.substr(0, step.length)) : 0xfffd;
    if (point == '"' || point == '\\') {
      out += '\\';
      out += static_cast<char>(point);
    } else if (point >= 0x10000) {
      append_code_unit(out, 0xd800 + static_cast<unsigned>((point - 0x10000) >> 10));
      append_code_unit(out, 0xdc00 + static_cast<unsigned>((point - 0x10000) & 0x3ff));
    } else {
      append_code_unit(out, static_cast<unsigned>(point));
    }
    text.remove_prefix(step.length);
  }
  out += '"';
}

std::string json_members(const Record& record, std::string_view service, std::string_view environment) {
  std::string out;
  const auto text = [&](std::string_view key, std::string_view value) {
    out.append(out.empty() ? "\"" : ",\"").append(key).append("\":");
    append_escaped(out, value);
  };
  text("level", name(record.level));
  text("message", record.message);
  text("service", service);
  text("environment", environment);
  text("role", record.role);
  for (const Field& field : record.fields) {
    if (const auto* value = std::get_if<std::string_view>(&field.value)) {
      if (!value->empty()) text(field.name, *value);
      continue;
    }
    out.append(",\"").append(field.name).append("\":");
    append_number(out, field);
  }
  return out;
}

std::string text_line(const Record& record) {
  std::string out(name(record.level));
  out += ' ';
  if (record.role != "server") out.append(record.role).append(": ");
  std::string message;
  append_escaped(message, record.message);
  out.append(message, 1, message.size() - 2);
  for (const Field& field : record.fields) {
    const auto* value = std::get_if<std::string_view>(&field.value);
    if (value != nullptr && value->empty()) continue;
    out.append(" ").append(field.name).append("=");
    if (value == nullptr) {
      append_number(out, field);
    } else if (is_bare(*value)) {
      out += *value;
    } else {
      append_escaped(out, *value);
    }
  }
  return out;
}

std::string_view shortened(std::string_view session_id) noexcept { return session_id.substr(0, 12); }

}  // namespace rookery::log

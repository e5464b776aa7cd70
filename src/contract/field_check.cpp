// SPDX-License-Identifier: Apache-2.0
#include "contract/field_check.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "util/utf8.h"

namespace rookery::contract {

namespace {

using Kind = RawValue::Kind;

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

// The whole number that the JSON number `text` stands for, clamped; nullopt when it has a fraction.
std::optional<std::int64_t> whole_number(std::string_view text) noexcept {
  const char* end = text.data() + text.size();
  const std::int64_t clamped = text.starts_with('-') ? kMin : kMax;
  if (text.find_first_of(".eE") == std::string_view::npos) {
    std::int64_t number = 0;
    return std::from_chars(text.data(), end, number).ec == std::errc{} ? number : clamped;
  }
  double number = 0;
  if (std::from_chars(text.data(), end, number).ec != std::errc{} || number != std::trunc(number)) return std::nullopt;
  // 2^63 is the first double that does not fit.
  if (std::abs(number) >= 0x1p63) return clamped;
  return static_cast<std::int64_t>(number);
}

std::string characters(std::size_t count) { return std::to_string(count) + (count == 1 ? " character" : " characters"); }

}  // namespace

void FieldCheck::add(std::string_view field, std::string msg, std::string type) {
  std::vector<std::string> loc = prefix_;
  if (!field.empty()) loc.emplace_back(field);
  errors_.push_back({std::move(loc), std::move(msg), std::move(type)});
}

bool FieldCheck::refuse_duplicate(std::string_view field, const RawValue& value) {
  if (value.duplicate) add(field, "Key given more than once", "duplicate_key");
  return value.duplicate;
}

std::string FieldCheck::required_string(std::string_view field, const RawValue& value, const StringRule& rule) {
  if (value.is(Kind::kAbsent)) {
    missing(field);
    return {};
  }
  if (value.is(Kind::kNull)) {
    add(field, "Input should be a valid string", "string_type");
    return {};
  }
  return optional_string(field, value, rule).value_or("");
}

std::optional<std::string> FieldCheck::optional_string(std::string_view field, const RawValue& value, const StringRule& rule) {
  if (refuse_duplicate(field, value) || value.is_none()) return std::nullopt;
  const auto refuse = [&](std::string msg, std::string type) {
    add(field, std::move(msg), std::move(type));
    return std::nullopt;
  };
  if (!value.is(Kind::kString)) return refuse("Input should be a valid string", "string_type");
  // RapidJSON lets half a surrogate pair pass when it is written as an escape.
  if (!util::valid_utf8(value.text)) {
    return refuse("Input should be a valid string, unable to parse raw data as a unicode string", "string_unicode");
  }
  if (!rule.allow_nul && value.text.find('\0') != std::string_view::npos) {
    return refuse("Value error, NUL characters are not allowed", "value_error");
  }
  const std::size_t length = util::code_points(value.text);
  if (length < rule.min_characters) {
    return refuse("String should have at least " + characters(rule.min_characters), "string_too_short");
  }
  if (length > rule.max_characters) {
    return refuse("String should have at most " + characters(rule.max_characters), "string_too_long");
  }
  return std::string(value.text);
}

std::optional<std::int64_t> FieldCheck::optional_integer(std::string_view field, const RawValue& value) {
  if (refuse_duplicate(field, value) || value.is_none()) return std::nullopt;
  if (!value.is(Kind::kNumber)) {
    add(field, "Input should be a valid integer", "int_type");
    return std::nullopt;
  }
  const auto number = whole_number(value.text);
  if (!number) add(field, "Input should be a valid integer, got a number with a fractional part", "int_from_float");
  return number;
}

std::optional<std::uint64_t> FieldCheck::optional_positive(std::string_view field, const RawValue& value) {
  const auto number = optional_integer(field, value);
  if (!number) return std::nullopt;
  if (*number >= 1) return static_cast<std::uint64_t>(*number);
  add(field, "Input should be greater than or equal to 1", "greater_than_equal");
  return std::nullopt;
}

}  // namespace rookery::contract

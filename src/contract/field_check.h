// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "contract/raw_body.h"
#include "contract/types.h"

namespace rookery::contract {

struct StringRule {
  std::size_t min_characters = 0;
  std::size_t max_characters = SIZE_MAX;
  bool allow_nul = false;
};

// Turns raw values into fields and collects what is wrong with them, in the words of the reference's validator
// (pydantic 2), which clients may match on.
class FieldCheck {
 public:
  explicit FieldCheck(std::vector<std::string> prefix) : prefix_(std::move(prefix)) {}

  // A value that must be there. An error is noted and "" returned otherwise.
  std::string required_string(std::string_view field, const RawValue& value, const StringRule& rule);
  // nullopt when absent, null or wrong.
  std::optional<std::string> optional_string(std::string_view field, const RawValue& value, const StringRule& rule);
  // Whole numbers, also written as 2.0 or 2e0; clamped into 64 bits.
  std::optional<std::int64_t> optional_integer(std::string_view field, const RawValue& value);
  // As above, and >= 1.
  std::optional<std::uint64_t> optional_positive(std::string_view field, const RawValue& value);

  void add(std::string_view field, std::string msg, std::string type);
  void missing(std::string_view field) { add(field, "Field required", "missing"); }
  // True (and noted) when the key came twice: which one counts would be a guess.
  bool refuse_duplicate(std::string_view field, const RawValue& value);

  [[nodiscard]] std::vector<FieldError>& errors() noexcept { return errors_; }

 private:
  std::vector<std::string> prefix_;
  std::vector<FieldError> errors_;
};

}  // namespace rookery::contract

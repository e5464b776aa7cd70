// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "contract/types.h"

namespace rookery::contract {

// One value of a request body as it was written.
struct RawValue {
  enum class Kind { kAbsent, kNull, kBool, kNumber, kString, kArray, kObject };
  static constexpr std::size_t kMaxItems = 8;

  Kind kind = Kind::kAbsent;
  std::string_view text;        // string: unescaped; number: its digits. Points into RawBody's buffer
  std::vector<RawValue> items;  // array: the first kMaxItems
  std::size_t item_count = 0;   // array: all
  bool duplicate = false;       // the key came twice

  [[nodiscard]] bool is(Kind other) const noexcept { return kind == other; }
  // Absent or null.
  [[nodiscard]] bool is_none() const noexcept { return kind == Kind::kAbsent || kind == Kind::kNull; }
};

// The wanted fields of a JSON body: of its top-level object, and of the object in its field `input`. Everything else is checked
// for syntax and dropped as it is read, so memory is one copy of the body however many keys it has.
class RawBody {
 public:
  RawBody(std::initializer_list<std::string_view> fields, std::initializer_list<std::string_view> input_fields);
  RawBody(const RawBody&) = delete;
  RawBody& operator=(const RawBody&) = delete;

  // False when `body` is not one JSON document of valid UTF-8, nested at most 64 deep; error() then says why.
  [[nodiscard]] bool parse(std::string_view body);
  [[nodiscard]] const FieldError& error() const noexcept { return error_; }

  [[nodiscard]] RawValue::Kind kind() const noexcept { return root_.kind; }
  // A field that was asked for in the constructor.
  [[nodiscard]] const RawValue& field(std::string_view name) const;
  [[nodiscard]] const RawValue& input_field(std::string_view name) const;

 private:
  using Fields = std::vector<std::pair<std::string_view, RawValue>>;
  class Handler;
  static RawValue* find(Fields& fields, std::string_view name) noexcept;

  std::string buffer_;  // the body, decoded in place
  RawValue root_;
  Fields fields_;
  Fields input_fields_;
  FieldError error_;
};

}  // namespace rookery::contract

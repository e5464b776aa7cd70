// SPDX-License-Identifier: Apache-2.0
#include "contract/raw_body.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "contract/rapidjson_reader.h"
#include "util/utf8.h"

namespace rookery::contract {

namespace {

constexpr int kMaxDepth = 64;
// Without kParseValidateEncodingFlag: RapidJSON 1.1.0 then reads up to two bytes behind a body that ends inside a character.
// The body is checked before it is parsed instead.
constexpr unsigned kParseFlags =
    rapidjson::kParseInsituFlag | rapidjson::kParseIterativeFlag | rapidjson::kParseNumbersAsStringsFlag;

}  // namespace

// Receives RapidJSON's events; its function names are RapidJSON's. A false ends the parse.
class RawBody::Handler {
 public:
  explicit Handler(RawBody& body) noexcept : body_(body) {}

  [[nodiscard]] bool too_deep() const noexcept { return depth_ > kMaxDepth; }

  bool Null() { return value(RawValue::Kind::kNull, {}); }
  bool Bool(bool /*value*/) { return value(RawValue::Kind::kBool, {}); }
  bool RawNumber(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return value(RawValue::Kind::kNumber, {text, size});
  }
  bool String(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    return value(RawValue::Kind::kString, {text, size});
  }
  bool StartObject() { return open(RawValue::Kind::kObject); }
  bool EndObject(rapidjson::SizeType /*members*/) { return close(); }
  bool StartArray() { return open(RawValue::Kind::kArray); }
  bool EndArray(rapidjson::SizeType /*elements*/) { return close(); }
  bool Key(const char* text, rapidjson::SizeType size, bool /*copy*/) {
    if (depth_ == 1) slot_ = find(body_.fields_, {text, size});
    if (depth_ == 2 && in_input_) slot_ = find(body_.input_fields_, {text, size});
    return true;
  }

  // Never called with kParseNumbersAsStringsFlag, but RapidJSON's templates name them.
  bool Int(int) { return false; }
  bool Uint(unsigned) { return false; }
  bool Int64(std::int64_t) { return false; }
  bool Uint64(std::uint64_t) { return false; }
  bool Double(double) { return false; }

 private:
  bool value(RawValue::Kind kind, std::string_view text) {
    RawValue* place = std::exchange(slot_, nullptr);
    if (depth_ == 0) place = &body_.root_;
    if (place != nullptr) {
      place->duplicate = !place->is(RawValue::Kind::kAbsent);
      place->kind = kind;
      place->text = text;
    } else if (array_ != nullptr && depth_ == array_depth_) {
      ++array_->item_count;
      if (array_->items.size() < RawValue::kMaxItems) array_->items.emplace_back().kind = kind;
      if (array_->item_count <= RawValue::kMaxItems) array_->items.back().text = text;
    }
    opened_ = place;
    return true;
  }

  bool open(RawValue::Kind kind) {
    value(kind, {});
    ++depth_;
    if (kind == RawValue::Kind::kArray && opened_ != nullptr) {
      array_ = opened_;
      array_depth_ = depth_;
    }
    if (kind == RawValue::Kind::kObject && depth_ == 2) in_input_ = opened_ != nullptr && opened_ == input();
    return !too_deep();
  }

  bool close() {
    if (array_ != nullptr && depth_ == array_depth_) array_ = nullptr;
    --depth_;
    return true;
  }

  [[nodiscard]] RawValue* input() const noexcept { return find(body_.fields_, "input"); }

  RawBody& body_;
  RawValue* slot_ = nullptr;    // where the value of the last key goes
  RawValue* opened_ = nullptr;  // where the last value went
  RawValue* array_ = nullptr;   // a wanted array that is open
  int array_depth_ = 0;
  int depth_ = 0;
  bool in_input_ = false;
};

RawBody::RawBody(std::initializer_list<std::string_view> fields, std::initializer_list<std::string_view> input_fields) {
  for (const auto name : fields) fields_.emplace_back(name, RawValue{});
  for (const auto name : input_fields) input_fields_.emplace_back(name, RawValue{});
}

RawValue* RawBody::find(Fields& fields, std::string_view name) noexcept {
  const auto field = std::ranges::find(fields, name, &Fields::value_type::first);
  return field == fields.end() ? nullptr : &field->second;
}

bool RawBody::parse(std::string_view body) {
  error_ = {{"body"}, "JSON decode error", "json_invalid"};
  // A NUL ends RapidJSON's input and is not JSON anywhere.
  const std::size_t nul = body.find('\0');
  if (nul != std::string_view::npos) {
    error_.loc.push_back(std::to_string(nul));
    error_.msg += ": NUL character.";
    return false;
  }
  if (!util::valid_utf8(body)) {
    error_.msg += ": not UTF-8.";
    return false;
  }
  buffer_ = body;
  rapidjson::InsituStringStream stream(buffer_.data());
  rapidjson::Reader reader;
  Handler handler(*this);
  const rapidjson::ParseResult result = reader.Parse<kParseFlags>(stream, handler);
  if (!result.IsError()) return true;
  error_.loc.push_back(std::to_string(result.Offset()));
  error_.msg += handler.too_deep() ? ": nested more than 64 levels deep." : std::string(": ") + rapidjson::GetParseError_En(result.Code());
  return false;
}

const RawValue& RawBody::field(std::string_view name) const {
  return std::ranges::find(fields_, name, &Fields::value_type::first)->second;
}

const RawValue& RawBody::input_field(std::string_view name) const {
  return std::ranges::find(input_fields_, name, &Fields::value_type::first)->second;
}

}  // namespace rookery::contract

// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include "contract/field_check.h"
#include "contract/json.h"
#include "contract/raw_body.h"

namespace rookery::contract {

namespace {

using Kind = RawValue::Kind;

constexpr std::size_t kMaxSource = 200'000;  // characters
constexpr std::size_t kMaxToolUseId = 4096;   // characters

constexpr std::array kCommands = {
    std::pair{std::string_view("view"), EditorCommand::kView},
    std::pair{std::string_view("create"), EditorCommand::kCreate},
    std::pair{std::string_view("str_replace"), EditorCommand::kStrReplace},
    std::pair{std::string_view("insert"), EditorCommand::kInsert},
    std::pair{std::string_view("undo_edit"), EditorCommand::kUndoEdit},
};
const std::array kTools = {
    std::pair{name(Tool::kCodeExecution), Tool::kCodeExecution},
    std::pair{name(Tool::kBashExecution), Tool::kBashExecution},
    std::pair{name(Tool::kTextEditor), Tool::kTextEditor},
};

// "'a', 'b' or 'c'".
template <typename Table>
std::string choices(const Table& table) {
  std::string text;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (i != 0) text += i + 1 == table.size() ? " or " : ", ";
    text.append("'").append(table[i].first).append("'");
  }
  return text;
}

template <typename Table>
auto required_choice(FieldCheck& check, std::string_view field, const RawValue& value, const Table& table)
    -> std::optional<decltype(table[0].second)> {
  if (value.is(Kind::kAbsent)) {
    check.missing(field);
    return std::nullopt;
  }
  if (check.refuse_duplicate(field, value)) return std::nullopt;
  for (const auto& [text, meaning] : table) {
    if (value.is(Kind::kString) && value.text == text) return meaning;
  }
  check.add(field, "Input should be " + choices(table), "literal_error");
  return std::nullopt;
}

std::optional<std::array<std::int64_t, 2>> view_range(FieldCheck& check, const RawValue& value) {
  constexpr std::string_view kField = "view_range";
  // The reference takes an empty list for no range, and models do send it.
  if (check.refuse_duplicate(kField, value) || value.is_none() || (value.is(Kind::kArray) && value.item_count == 0)) {
    return std::nullopt;
  }
  if (!value.is(Kind::kArray)) {
    check.add(kField, "Input should be a valid list", "list_type");
    return std::nullopt;
  }
  if (value.item_count != 2) {
    check.add(kField, "List should have exactly 2 items, not " + std::to_string(value.item_count),
              value.item_count < 2 ? "too_short" : "too_long");
    return std::nullopt;
  }
  FieldCheck items({"body", "input", std::string(kField)});
  std::array<std::int64_t, 2> range{};
  for (std::size_t i = 0; i < range.size(); ++i) {
    const std::string index = std::to_string(i);
    const RawValue& item = value.items[i];
    if (item.is_none()) items.add(index, "Input should be a valid integer", "int_type");
    range[i] = items.optional_integer(index, item).value_or(0);
  }
  for (FieldError& error : items.errors()) check.errors().push_back(std::move(error));
  return range;
}

EditorInput editor_input(FieldCheck& check, const RawBody& body) {
  // A text may hold NUL: it goes into a file. What a command lacks is a failed edit, told in its stderr, as in the reference.
  const StringRule text{.allow_nul = true};
  EditorInput input;
  const auto command = required_choice(check, "command", body.input_field("command"), kCommands);
  if (command) input.command = *command;
  input.path = check.required_string("path", body.input_field("path"), {.min_characters = 1});
  input.file_text = check.optional_string("file_text", body.input_field("file_text"), text);
  input.old_str = check.optional_string("old_str", body.input_field("old_str"), text);
  input.new_str = check.optional_string("new_str", body.input_field("new_str"), text);
  input.insert_line = check.optional_integer("insert_line", body.input_field("insert_line"));
  input.view_range = view_range(check, body.input_field("view_range"));
  return input;
}

FieldError not_an_object() {
  return {{"body"}, "Input should be a valid dictionary or object to extract fields from", "model_attributes_type"};
}

}  // namespace

Parsed<CreateSessionRequest> parse_create_session(std::string_view body) {
  CreateSessionRequest request;
  if (body.empty()) return request;
  RawBody raw({"idle_timeout_seconds", "max_lifetime_seconds", "image"}, {});
  if (!raw.parse(body)) return std::vector{raw.error()};
  if (raw.kind() == Kind::kNull) return request;
  if (raw.kind() != Kind::kObject) return std::vector{not_an_object()};

  FieldCheck check({"body"});
  request.idle_timeout_seconds = check.optional_positive("idle_timeout_seconds", raw.field("idle_timeout_seconds"));
  request.max_lifetime_seconds = check.optional_positive("max_lifetime_seconds", raw.field("max_lifetime_seconds"));
  // An image name that cannot be used is as good as none.
  FieldCheck ignored({});
  request.image = ignored.optional_string("image", raw.field("image"), {}).value_or("");
  if (!check.errors().empty()) return std::move(check.errors());
  return request;
}

Parsed<std::monostate> parse_no_fields(std::string_view body) {
  if (body.empty()) return std::monostate();
  RawBody raw({}, {});
  if (!raw.parse(body)) return std::vector{raw.error()};
  if (raw.kind() != Kind::kNull && raw.kind() != Kind::kObject) return std::vector{not_an_object()};
  return std::monostate();
}

Parsed<ExecRequest> parse_exec(std::string_view body) {
  RawBody raw({"tool", "input", "timeout_seconds", "tool_use_id"},
              {"code", "command", "path", "file_text", "old_str", "new_str", "insert_line", "view_range"});
  if (!body.empty() && !raw.parse(body)) return std::vector{raw.error()};
  if (body.empty() || raw.kind() == Kind::kNull) {
    return std::vector{FieldError{{"body"}, "Field required", "missing"}};
  }
  if (raw.kind() != Kind::kObject) return std::vector{not_an_object()};

  ExecRequest request;
  FieldCheck check({"body"});
  const auto tool = required_choice(check, "tool", raw.field("tool"), kTools);
  const RawValue& input = raw.field("input");
  bool input_usable = input.is(Kind::kObject);
  if (input.is(Kind::kAbsent)) {
    check.missing("input");
  } else if (check.refuse_duplicate("input", input)) {
    input_usable = false;
  } else if (!input_usable) {
    check.add("input", "Input should be a valid dictionary", "dict_type");
  }
  request.timeout_seconds = check.optional_positive("timeout_seconds", raw.field("timeout_seconds"));
  request.tool_use_id = check.optional_string("tool_use_id", raw.field("tool_use_id"), {.max_characters = kMaxToolUseId}).value_or("");
  std::vector<FieldError> errors = std::move(check.errors());

  if (tool && input_usable) {
    request.tool = *tool;
    FieldCheck inner({"body", "input"});
    const StringRule source{.min_characters = 1, .max_characters = kMaxSource};
    switch (*tool) {
      case Tool::kCodeExecution: {
        // NUL is the interpreter's to refuse: a SyntaxError, as from a file.
        StringRule code = source;
        code.allow_nul = true;
        request.source = inner.required_string("code", raw.input_field("code"), code);
        break;
      }
      case Tool::kBashExecution:
        request.source = inner.required_string("command", raw.input_field("command"), source);
        break;
      case Tool::kTextEditor:
        request.editor = editor_input(inner, raw);
        break;
    }
    for (FieldError& error : inner.errors()) errors.push_back(std::move(error));
  }
  if (!errors.empty()) return errors;
  if (request.tool_use_id.empty()) request.tool_use_id = new_tool_use_id();
  return request;
}

}  // namespace rookery::contract

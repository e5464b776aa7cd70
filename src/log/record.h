// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace rookery::log {

enum class Level { kDebug, kInfo, kWarning, kError, kCritical };

// "DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL".
[[nodiscard]] std::string_view name(Level level) noexcept;

// One value of a record beside its message. Empty texts are left out. `name` is a literal of ours, [a-z_]+.
struct Field {
  std::string_view name;
  std::variant<std::string_view, std::int64_t, double> value;
};

// One line of the log, without its time.
struct Record {
  Level level = Level::kInfo;
  std::string_view role;     // the process it tells of: "server", "warden", "init", ...
  std::string_view message;  // what happened; the same words for the same event
  std::vector<Field> fields;
};

// Appends `text` as a JSON string with its quotes, in ASCII: control characters, everything beyond ASCII and what is not
// UTF-8 (as U+FFFD) are escaped, so that no text can end a line, forge a field or reach a terminal's control sequences.
void append_escaped(std::string& out, std::string_view text);

// The members of a JSON object from "level" on, without its braces.
[[nodiscard]] std::string json_members(const Record& record, std::string_view service, std::string_view environment);
// "LEVEL role: message name=value ..."; the role of the server is left out, values with unusual characters are quoted.
[[nodiscard]] std::string text_line(const Record& record);

// An id is a capability: whoever reads the log or a trace must not be able to use it. Its first 12 characters.
[[nodiscard]] std::string_view shortened(std::string_view session_id) noexcept;

}  // namespace rookery::log

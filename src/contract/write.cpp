// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>

#include "contract/json.h"
#include "contract/json_string.h"
#include "util/random.h"
#include "util/utf8.h"

namespace rookery::contract {

namespace {

// One JSON object, written from left to right. Keys are literals of ours that need no escaping.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::string& out) : out_(out) { out_ += '{'; }
  ObjectWriter(const ObjectWriter&) = delete;
  ObjectWriter& operator=(const ObjectWriter&) = delete;
  void end() { out_ += '}'; }

  // Writes the key; the caller then appends the value.
  std::string& key(std::string_view name) {
    if (!first_) out_ += ',';
    first_ = false;
    return out_.append("\"").append(name).append("\":");
  }
  void string(std::string_view name, std::string_view value) { append_json_string(key(name), value); }
  template <typename Integer>
  void integer(std::string_view name, Integer value) {
    key(name) += std::to_string(value);
  }
  void boolean(std::string_view name, bool value) { key(name) += value ? "true" : "false"; }
  // Always with a fraction or as a whole number with ".0", as the reference writes its floats.
  void seconds(std::string_view name, double value) {
    std::array<char, 400> text{};
    const auto end = std::to_chars(text.data(), text.data() + text.size(), std::isfinite(value) ? value : 0.0, std::chars_format::fixed).ptr;
    std::string& out = key(name).append(text.data(), end);
    if (value == std::trunc(value)) out += ".0";
  }

 private:
  std::string& out_;
  bool first_ = true;
};

void write_handle(ObjectWriter& object, const SessionHandle& handle) {
  object.string("session_id", handle.session_id);
  object.seconds("created_at", handle.created_at);
  object.seconds("last_activity_at", handle.last_activity_at);
  object.integer("idle_timeout_seconds", handle.idle_timeout_seconds);
  object.integer("max_lifetime_seconds", handle.max_lifetime_seconds);
  if (!handle.image.empty()) object.string("image", handle.image);
}

void append_status(std::string& out, const SessionStatus& status) {
  ObjectWriter object(out);
  write_handle(object, status.handle);
  object.string("state", status.state);
  object.integer("calls", status.calls);
  object.integer("memory_bytes", status.memory_bytes);
  object.integer("processes", status.processes);
  if (status.workspace_bytes) object.integer("workspace_bytes", *status.workspace_bytes);
  object.end();
}

std::string_view without_last_newline(std::string_view text) noexcept {
  if (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

void append_result(std::string& out, const ExecRequest& request, const CallOutcome& outcome) {
  // Only the interpreter's streams lose one newline (what print() adds); bash's are exact.
  const bool strip = request.tool == Tool::kCodeExecution;
  ObjectWriter result(out);
  result.string("type", "code_execution_result");
  result.string("stdout", strip ? without_last_newline(outcome.out) : std::string_view(outcome.out));
  result.string("stderr", strip ? without_last_newline(outcome.err) : std::string_view(outcome.err));
  result.integer("return_code", outcome.return_code);
  result.key("content") += '[';
  for (const FileReference& file : outcome.files) {
    if (&file != &outcome.files.front()) out += ',';
    ObjectWriter entry(out);
    entry.string("type", "code_execution_output");
    entry.string("file_id", file.file_id);
    entry.string("filename", file.filename);
    entry.end();
  }
  out += ']';
  result.end();
}

bool is_index(std::string_view text) noexcept {
  return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::string to_json(const SessionHandle& handle) {
  std::string out;
  ObjectWriter object(out);
  write_handle(object, handle);
  object.end();
  return out;
}

std::string to_json(const SessionStatus& status) {
  std::string out;
  append_status(out, status);
  return out;
}

std::string to_json(const std::vector<SessionStatus>& sessions, std::optional<std::uint64_t> next) {
  std::string out;
  ObjectWriter object(out);
  object.key("sessions") += '[';
  for (const SessionStatus& status : sessions) {
    if (&status != &sessions.front()) out += ',';
    append_status(out, status);
  }
  out += ']';
  if (next) object.integer("next", *next);
  object.end();
  return out;
}

std::string to_json(const ExecRequest& request, const CallOutcome& outcome) {
  std::string out;
  const std::size_t streams = outcome.out.size() + outcome.err.size();
  out.reserve(512 + 2 * request.tool_use_id.size() + streams + streams / 8);
  ObjectWriter response(out);
  response.string("tool_use_id", request.tool_use_id);
  response.key("result_block");
  {
    ObjectWriter block(out);
    block.string("type", std::string(name(request.tool)) + "_tool_result");
    block.string("tool_use_id", request.tool_use_id);
    block.key("content");
    append_result(out, request, outcome);
    block.end();
  }
  response.integer("execution_time_ms", outcome.execution_time_ms);
  if (outcome.files_total > outcome.files.size()) response.integer("files_total", outcome.files_total);
  if (outcome.queued_ms > 0) response.integer("queued_ms", outcome.queued_ms);
  if (outcome.timed_out) response.boolean("timed_out", true);
  if (outcome.interpreter_restarted) response.boolean("interpreter_restarted", true);
  if (outcome.limit != Limit::kNone) response.string("limit", name(outcome.limit));
  if (outcome.timeout_in_force_s) response.integer("timeout_seconds", *outcome.timeout_in_force_s);
  response.end();
  return out;
}

std::string to_json(const std::vector<FileMetadata>& files, bool truncated) {
  std::string out;
  out.reserve(32 + files.size() * 128);
  ObjectWriter object(out);
  object.key("files") += '[';
  for (const FileMetadata& file : files) {
    if (&file != &files.front()) out += ',';
    ObjectWriter entry(out);
    entry.string("path", file.path);
    if (!util::valid_utf8(file.path)) entry.string("path_base64", base64(file.path));
    entry.integer("size_bytes", file.size_bytes);
    if (file.mime_type.empty()) {
      entry.key("mime_type") += "null";
    } else {
      entry.string("mime_type", file.mime_type);
    }
    entry.seconds("modified_at", file.modified_at);
    entry.end();
  }
  out += ']';
  if (truncated) object.boolean("truncated", true);
  object.end();
  return out;
}

std::string upload_result_json(std::string_view path, std::uint64_t size_bytes) {
  std::string out;
  ObjectWriter object(out);
  object.string("path", path);
  if (!util::valid_utf8(path)) object.string("path_base64", base64(path));
  object.integer("size_bytes", size_bytes);
  object.end();
  return out;
}

std::string error_json(std::string_view detail) {
  std::string out;
  ObjectWriter object(out);
  object.string("detail", detail);
  object.end();
  return out;
}

std::string error_json(const std::vector<FieldError>& errors) {
  std::string out = "{\"detail\":[";
  for (const FieldError& error : errors) {
    if (&error != &errors.front()) out += ',';
    ObjectWriter entry(out);
    entry.key("loc") += '[';
    for (std::size_t i = 0; i < error.loc.size(); ++i) {
      if (i != 0) out += ',';
      if (is_index(error.loc[i])) {
        out += error.loc[i];
      } else {
        append_json_string(out, error.loc[i]);
      }
    }
    out += ']';
    entry.string("msg", error.msg);
    entry.string("type", error.type);
    entry.end();
  }
  return out += "]}";
}

std::string new_tool_use_id() { return "srvtoolu_" + util::random_hex(24); }

}  // namespace rookery::contract

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

// The code-execution contract (version 1) as plain values; json.h turns them into bytes and back.
namespace rookery::contract {

enum class Tool { kCodeExecution, kBashExecution, kTextEditor };

// "code_execution", "bash_code_execution", "text_editor_code_execution".
[[nodiscard]] std::string_view name(Tool tool) noexcept;

// CreateSession. An absent hint is nullopt; clamping is the session table's work.
struct CreateSessionRequest {
  std::optional<std::uint64_t> idle_timeout_seconds;  // >= 1
  std::optional<std::uint64_t> max_lifetime_seconds;  // >= 1
  std::string image;                                  // "" when absent or not a string: never an error
};

struct SessionHandle {
  std::string session_id;
  double created_at = 0;        // POSIX seconds
  double last_activity_at = 0;  // POSIX seconds
  std::uint32_t idle_timeout_seconds = 0;
  std::uint32_t max_lifetime_seconds = 0;
  std::string image;  // additive
};

// What operators see of a session: the handle and fields that are all additive.
struct SessionStatus {
  SessionHandle handle;
  std::string_view state;  // "idle" or "running": whether a call runs or waits
  std::uint64_t calls = 0;
  std::uint64_t memory_bytes = 0;  // charged to the session now, its files in memory included
  std::uint64_t processes = 0;     // processes and threads, ours in the jail included
  std::optional<std::uint64_t> workspace_bytes;  // of /workspace, /tmp and /dev/shm; nullopt where it is not known
};

enum class EditorCommand { kView, kCreate, kStrReplace, kInsert, kUndoEdit };

struct EditorInput {
  EditorCommand command{};
  std::string path;
  std::optional<std::string> file_text = std::nullopt;
  std::optional<std::string> old_str = std::nullopt;
  std::optional<std::string> new_str = std::nullopt;
  std::optional<std::int64_t> insert_line = std::nullopt;
  std::optional<std::array<std::int64_t, 2>> view_range = std::nullopt;
};

struct ExecRequest {
  Tool tool{};
  std::string source;                         // code_execution's code, bash's command; 1..200,000 characters
  EditorInput editor;                         // text_editor only
  std::optional<std::uint64_t> timeout_seconds;  // >= 1; nullopt when absent or null
  std::string tool_use_id;                    // never empty: generated when the request has none
};

// What ended a call early, or what it ran into. Told in the response field `limit`.
enum class Limit { kNone, kMemory, kCpu, kPids, kFileSize, kWorkspace, kOutput, kWallClock };

// "memory", "cpu", "pids", "file_size", "workspace", "output", "wall_clock"; "" for kNone.
[[nodiscard]] std::string_view name(Limit limit) noexcept;

// One file a call produced: `filename` is its path relative to /workspace and works in GET files?path=.
struct FileReference {
  std::string file_id;
  std::string filename;
};

// The outcome of one tool call. The program's failure is a value here, never an error.
struct CallOutcome {
  std::string out;  // stdout, any bytes; the JSON writer replaces what is not UTF-8 by U+FFFD
  std::string err;  // stderr, likewise
  std::string notice;  // the end of `err` that is ours and not the program's: why a call ended
  std::int32_t return_code = 0;
  std::vector<FileReference> files;
  std::uint64_t files_total = 0;  // additive, written only when larger than files.size()
  std::uint64_t execution_time_ms = 0;
  std::uint64_t queued_ms = 0;                      // additive, written when > 0
  bool timed_out = false;                           // additive, written when true
  bool interpreter_restarted = false;               // additive, written when true: variables are lost
  Limit limit = Limit::kNone;                       // additive, written unless kNone
  std::optional<std::uint32_t> timeout_in_force_s;  // additive `timeout_seconds`, written when the request was lowered
};

struct FileMetadata {
  std::string path;  // relative to /workspace, raw bytes
  std::uint64_t size_bytes = 0;
  std::string mime_type;
  double modified_at = 0;  // POSIX seconds
};

// One entry of a 422 body: {"detail": [{"loc": [...], "msg": ..., "type": ...}]}.
struct FieldError {
  std::vector<std::string> loc;  // e.g. {"body", "input", "code"}
  std::string msg;
  std::string type;
};

template <typename T>
using Parsed = std::variant<T, std::vector<FieldError>>;

}  // namespace rookery::contract

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "contract/types.h"
#include "server/editor/undo_stack.h"
#include "server/files/result.h"
#include "server/files/workspace_snapshot.h"

namespace rookery::server {

struct EditorLimits {
  std::size_t file_bytes = std::size_t{16} << 20;   // a larger file is neither viewed nor edited
  std::size_t output_bytes = std::size_t{1} << 20;  // a longer view is cut in its middle, and says so
  std::size_t listed_entries = 10'000;              // of a directory
};

// The text_editor_code_execution tool of one session. It works on bytes: what an edit does not name stays as it is,
// whatever encoding or line ends the file has. Not thread-safe: the calls of a session run one after another.
class Editor {
 public:
  explicit Editor(EditorLimits limits = {}) : limits_(limits) {}

  // Runs one command beneath the directory descriptor `workspace`. A refusal is return code 1 and
  // `text_editor: …` in stderr. `record` is told of each version written.
  [[nodiscard]] contract::CallOutcome run(int workspace, const contract::EditorInput& input,
                                          const RecordOwnWrite& record = {});
  // Whether the last command was refused because its path leads out of the workspace.
  [[nodiscard]] bool refused_path() const noexcept { return refused_path_; }

 private:
  struct Call;
  struct Existing;

  // What the command prints, or why it was refused.
  using Answer = FileResult<std::string>;
  Answer view(const Call& call) const;
  Answer create(const Call& call) const;
  Answer str_replace(const Call& call);
  Answer insert(const Call& call);
  Answer undo_edit(const Call& call);

  // The regular file an edit is about, with its content.
  FileResult<Existing> load(const Call& call) const;
  // Replaces the file by `text` and keeps what it was for undo_edit; answers `done`.
  Answer save(const Call& call, Existing&& file, std::string text, std::string done);
  FileResult<std::string> read(const Call& call) const;

  EditorLimits limits_;
  UndoStack undo_;
  bool refused_path_ = false;
};

}  // namespace rookery::server

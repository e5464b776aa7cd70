// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "server/files/result.h"
#include "server/files/workspace_snapshot.h"

namespace rookery::server {

class NewFile;

struct Uploaded {
  std::string path;  // relative to /workspace
  std::uint64_t size_bytes = 0;
};

// One file on its way into a workspace: begin, write in pieces, commit. Nothing is visible under its name before
// commit; an upload that is dropped before leaves nothing, not even the directories it made. The caller caps
// the size. Not thread-safe.
class UploadFile {
 public:
  // Makes missing parent directories. A symlink is followed while it stays inside, so the file it names is the one
  // replaced. Refused: a directory or a trailing slash (400), whatever leaves (403), an existing FIFO, socket or
  // device (409), a full workspace (413).
  [[nodiscard]] static FileResult<UploadFile> begin(int workspace, std::string_view path);

  // The same upload under another path, checked as in begin(): for a client that tells the path behind the content.
  [[nodiscard]] std::optional<FileError> move_to(int workspace, std::string_view path);

  // nullopt: written. After an error the upload is lost; drop it.
  [[nodiscard]] std::optional<FileError> write(std::string_view bytes);

  // Makes the file visible (mode 0644, owned as the workspace is), replacing a regular file of that name in one step.
  // `record` is told of the version before it can be seen.
  [[nodiscard]] FileResult<Uploaded> commit(const RecordOwnWrite& record = {});

  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }

  UploadFile(UploadFile&&) noexcept;
  UploadFile& operator=(UploadFile&&) noexcept;
  ~UploadFile();

 private:
  UploadFile(std::unique_ptr<NewFile> file, std::string shown, std::string relative);

  std::unique_ptr<NewFile> file_;
  std::string shown_;     // the client's spelling, for errors
  std::string relative_;  // the same, normalised
  std::uint64_t size_ = 0;
};

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "contract/types.h"

struct stat;

namespace rookery::server {

// One state of one file's content, as far as stat tells. Renaming does not change it.
struct FileVersion {
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t modified_ns = 0;
  bool operator==(const FileVersion&) const = default;
};

[[nodiscard]] FileVersion version_of(const struct stat& status) noexcept;

// Told of every version the server itself writes into a workspace, before it becomes visible.
using RecordOwnWrite = std::function<void(const FileVersion&)>;

// What a session's workspace held after its last call, to tell which files the next call produced.
// Thread-safe: uploads run beside calls.
class WorkspaceSnapshot {
 public:
  struct Produced {
    std::vector<contract::FileReference> files;  // sorted, at most kMaxReported
    std::uint64_t total = 0;                     // before that cut
  };

  static constexpr std::size_t kMaxReported = 100;
  static constexpr std::size_t kMaxWalked = 5'000;  // directory entries looked at in one walk
  static constexpr int kMaxDepth = 16;

  // Walks the workspace, a directory open for reading whose position nobody else moves, and returns the regular files
  // that are new or changed since the walk before; the first walk compares with an empty workspace. Names that begin
  // with ".", `__pycache__`, `*.pyc`, symlinks and what record() was told of are left out. Never throws for what it finds.
  // At most `most` are told.
  [[nodiscard]] Produced update(int workspace, std::size_t most = kMaxReported);

  // A version the server wrote itself: not to be reported.
  void record(const FileVersion& own);
  [[nodiscard]] RecordOwnWrite recorder() {
    return [this](const FileVersion& own) { record(own); };
  }

 private:
  struct Known {
    FileVersion version;
    std::uint64_t seen = 0;  // number of the walk that saw it last
    // Hash of the content, while the file's times could not show another write.
    std::optional<std::size_t> content;
  };
  struct OwnWrite {
    FileVersion version;
    std::uint64_t since = 0;  // number of the walk it came before
  };
  struct Walk;

  void walk_directory(Walk& walk, int directory, int depth);
  void see_file(Walk& walk, int directory, const char* name);
  bool take_own_write(const FileVersion& version);
  void forget_unseen(bool truncated);

  std::mutex mutex_;
  std::unordered_map<std::string, Known> known_;  // by path relative to the workspace
  std::vector<OwnWrite> own_writes_;
  std::uint64_t walks_ = 0;
};

}  // namespace rookery::server

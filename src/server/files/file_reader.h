// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "contract/types.h"
#include "server/files/result.h"
#include "sys/unique_fd.h"

namespace rookery::server {

inline constexpr std::uint64_t kMaxDownloadBytes = std::uint64_t{2} << 30;
inline constexpr std::size_t kMaxListedFiles = 10'000;

// A regular file opened for reading. Its size was taken at that moment: send exactly that many bytes or close
// the connection, because the session may grow or shrink the file meanwhile.
struct OpenedFile {
  sys::UniqueFd fd;
  std::uint64_t size = 0;
  double modified_at = 0;  // POSIX seconds
  std::uint32_t mode = 0;  // permission bits
  std::string name;        // last component of the path, raw bytes: for content_disposition()
  std::string media_type;  // as it may be sent: never an active type
};

// Opens `path` beneath the directory descriptor `workspace`. Never blocks, on nothing a session can make.
// Refused: a directory (400), whatever leaves the workspace (403), missing (404), FIFO, socket, device or a file
// under a lease (409), more than `max_bytes` (413).
[[nodiscard]] FileResult<OpenedFile> open_for_read(int workspace, std::string_view path,
                                                   std::uint64_t max_bytes = kMaxDownloadBytes);

struct FileListing {
  std::vector<contract::FileMetadata> files;  // sorted by the bytes of their names
  bool truncated = false;                     // there are more than max_entries
};

// The regular files directly in the directory `path`, or the file `path` itself. A symlink counts when it leads to
// a regular file inside the workspace, else it is left out.
[[nodiscard]] FileResult<FileListing> list_files(int workspace, std::string_view path,
                                                 std::size_t max_entries = kMaxListedFiles);

}  // namespace rookery::server

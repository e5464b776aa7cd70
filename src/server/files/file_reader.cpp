// SPDX-License-Identifier: Apache-2.0
#include "server/files/file_reader.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>

#include "server/files/client_path.h"
#include "server/files/media_type.h"
#include "sys/beneath.h"

namespace rookery::server {

namespace {

double posix_seconds(const timespec& time) noexcept {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

}  // namespace

FileResult<OpenedFile> open_for_read(int workspace, std::string_view path, std::uint64_t max_bytes) {
  const auto parsed = parse_client_path(path);
  if (const auto* refused = std::get_if<FileError>(&parsed)) return *refused;
  const auto& target = std::get<ClientPath>(parsed);

  OpenedFile file;
  file.fd = sys::open_beneath(workspace, target.relative + (target.directory ? "/" : ""), O_RDONLY);
  // For a reader, "file/x" is simply not there.
  if (!file.fd) return path_error(errno == ENOTDIR ? ENOENT : errno, target, path);
  struct stat status {};
  if (::fstat(file.fd.get(), &status) != 0) return file_error(errno, path);
  if (S_ISDIR(status.st_mode)) return file_error(EISDIR, path);
  if (!S_ISREG(status.st_mode)) return file_error(ENXIO, path);
  file.size = static_cast<std::uint64_t>(status.st_size);
  if (file.size > max_bytes) return file_error(EFBIG, path);
  file.modified_at = posix_seconds(status.st_mtim);
  file.mode = status.st_mode & 0777U;
  file.name = target.relative.substr(target.relative.rfind('/') + 1);
  file.media_type = download_media_type(file.name);
  return file;
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <limits.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

#include "server/files/new_file.h"

namespace rookery::server {

namespace {

constexpr int kMaxLinks = 40;  // as many as the kernel follows

}  // namespace

int resolve_write_target(int workspace, const ClientPath& path, WriteTarget& target) {
  ClientPath current = path;
  for (int links = 0; links <= kMaxLinks; ++links) {
    if (current.directory) {
      const sys::UniqueFd there = sys::open_beneath(workspace, current.relative, O_PATH);
      return there || (errno != EXDEV && errno != ELOOP) ? EISDIR : errno;
    }
    const std::size_t slash = current.relative.rfind('/');
    target.parent = slash == std::string::npos ? "." : current.relative.substr(0, slash);
    target.name = current.relative.substr(slash + 1);  // npos + 1 is 0

    // Every step is resolved from the workspace again, so that a link may use ".." and still not leave.
    const sys::UniqueFd parent = sys::open_beneath(workspace, target.parent, O_PATH | O_DIRECTORY);
    if (!parent) return errno == ENOENT ? 0 : errno;
    if (::fstatat(parent.get(), target.name.c_str(), &target.status, AT_SYMLINK_NOFOLLOW) != 0) {
      return errno == ENOENT ? 0 : errno;
    }
    if (!S_ISLNK(target.status.st_mode)) {
      target.exists = true;
      return 0;
    }
    std::array<char, PATH_MAX> link{};
    const ssize_t length = ::readlinkat(parent.get(), target.name.c_str(), link.data(), link.size());
    if (length < 0) return errno == EINVAL ? EAGAIN : errno;  // EINVAL: no link any more
    const std::string_view text(link.data(), static_cast<std::size_t>(length));
    if (text.starts_with('/')) return EXDEV;
    current = normalise(target.parent + "/" + std::string(text));
  }
  return ELOOP;
}

}  // namespace rookery::server

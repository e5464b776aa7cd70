// SPDX-License-Identifier: Apache-2.0
#include "sys/beneath.h"

#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "util/random.h"

namespace rookery::sys {

namespace {

// The kernel answers EAGAIN when a rename anywhere raced a ".." of this walk: seldom twice in a row, and
// never for as long as this unless somebody means it.
constexpr int kAttempts = 32;

UniqueFd open_resolved(int root, const std::string& path, int flags, std::uint64_t resolve) noexcept {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags | O_CLOEXEC);
  // openat2 is strict about flags that O_PATH would ignore.
  if ((flags & O_PATH) == 0) how.flags |= O_NONBLOCK | O_NOCTTY;
  // O_TMPFILE has the bit of O_DIRECTORY in it.
  how.mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? 0600 : 0;
  how.resolve = RESOLVE_NO_MAGICLINKS | resolve;
  for (int attempt = 1;; ++attempt) {
    const long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof(how));
    if (fd >= 0) return UniqueFd(static_cast<int>(fd));
    if (errno == EINTR || (errno == EAGAIN && attempt < kAttempts)) continue;
    return {};
  }
}

}  // namespace

UniqueFd open_beneath(int root, const std::string& path, int flags) noexcept {
  return open_resolved(root, path, flags, RESOLVE_BENEATH);
}

UniqueFd open_in_root(int root, const std::string& path, int flags) noexcept {
  return open_resolved(root, path, flags, RESOLVE_IN_ROOT);
}

UniqueFd open_beneath_no_links(int root, const std::string& path, int flags) noexcept {
  return open_resolved(root, path, flags, RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS);
}

bool give_to(int fd, const Owner& owner) noexcept {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return false;
  if (status.st_uid == owner.uid && status.st_gid == owner.gid) return true;
  return ::fchown(fd, owner.uid, owner.gid) == 0;
}

std::string random_name(std::string_view prefix) { return std::string(prefix) + util::random_hex(16); }

}  // namespace rookery::sys

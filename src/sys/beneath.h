// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sys/unique_fd.h"

// Paths that must not leave a directory, whatever symlinks and renames the other side makes meanwhile: openat2(2) with
// RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS. Nothing here throws for what it finds: an empty descriptor and errno.
namespace rookery::sys {

// Opens `path` beneath `root` with `flags` plus O_CLOEXEC | O_NONBLOCK | O_NOCTTY, so that neither a FIFO nor a file lease
// blocks. EXDEV: the path leaves; ELOOP: too many links; EAGAIN: a lease, or a rename raced it again and again.
[[nodiscard]] UniqueFd open_beneath(int root, const std::string& path, int flags) noexcept;

// As open_beneath(), but `root` is taken for the root directory: absolute links and ".." stay inside (RESOLVE_IN_ROOT).
[[nodiscard]] UniqueFd open_in_root(int root, const std::string& path, int flags) noexcept;

// As open_beneath(), but no component may be a symlink (ELOOP).
[[nodiscard]] UniqueFd open_beneath_no_links(int root, const std::string& path, int flags) noexcept;

// Who is to own what make_directories() and the like create.
struct Owner {
  uid_t uid = 0;
  gid_t gid = 0;
};

// Gives `fd` to `owner` unless it is his already. False with errno set when the kernel refuses.
[[nodiscard]] bool give_to(int fd, const Owner& owner) noexcept;

// A directory descriptor for `path` beneath `root`, and what was made on the way to it.
struct MadeDirectories {
  UniqueFd directory;              // empty: errno says why, and nothing made is left
  UniqueFd base;                   // the directory the first new one was made in
  std::vector<std::string> names;  // the new ones, outermost first
};

inline constexpr std::size_t kMaxNewDirectories = 128;

// mkdir -p beneath `root`: mode 0755, each given to `owner` before it can be seen. A ".." behind a directory that does not
// exist is ENOENT; more than kMaxNewDirectories are ENAMETOOLONG.
[[nodiscard]] MadeDirectories make_directories(int root, const std::string& path, const Owner& owner);

// Removes again what make_directories() made, as far as it is still empty.
void remove_directories(const MadeDirectories& made) noexcept;

// `prefix` + 16 random hex digits: a name for what is not to be seen yet.
[[nodiscard]] std::string random_name(std::string_view prefix);

}  // namespace rookery::sys

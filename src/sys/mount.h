// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sys/unique_fd.h"

// mount(2), fsopen(2), open_tree(2), move_mount(2), mount_setattr(2), pivot_root(2).
// Everything throws std::system_error that names the mount point.
namespace rookery::sys {

// A new file system mount. `flags` are MS_*.
void mount_fs(const char* type, const std::string& at, unsigned long flags, const std::string& options = "");

// `from` (and, with `recursive`, what is mounted below it) also at `at`, which must exist.
void bind(const std::string& from, const std::string& at, bool recursive = false);

// Sets attributes (MOUNT_ATTR_*) on the mount at `at` and, with `recursive`, on all below it. They only restrict.
void restrict_mount(const std::string& at, unsigned long attributes, bool recursive = false);

// No mount event leaves or reaches the current mount namespace any more.
void make_private();

// A tmpfs that is mounted nowhere yet. `size` and `inodes` are its limits in bytes and files; `mode` is
// the root directory's. Mounted nosuid and nodev.
UniqueFd detached_tmpfs(unsigned long size, unsigned long inodes, const char* mode);

// A copy of the mount at `path` (relative to `dirfd`) that is mounted nowhere yet.
UniqueFd clone_mount(int dirfd, const std::string& path, bool recursive = false);

// Attaches a detached mount.
void attach(int mount_fd, const std::string& at);

// Detaches the mount at `at`; it ends when its last user does.
void detach(const std::string& at);

// Makes `new_root`, which must be a mount point, the root, drops the old root with everything below it, and goes to "/".
void enter_root(const std::string& new_root);

}  // namespace rookery::sys

// SPDX-License-Identifier: Apache-2.0
#include "sys/mount.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "sys/error.h"

namespace rookery::sys {

void mount_fs(const char* type, const std::string& at, unsigned long flags, const std::string& options) {
  check(::mount(type, at.c_str(), type, flags, options.empty() ? nullptr : options.c_str()),
        std::string("mount ") + type + " on " + at);
}

void bind(const std::string& from, const std::string& at, bool recursive) {
  unsigned long flags = MS_BIND;
  if (recursive) flags |= MS_REC;
  check(::mount(from.c_str(), at.c_str(), nullptr, flags, nullptr), "bind " + from + " on " + at);
}

void restrict_mount(const std::string& at, unsigned long attributes, bool recursive) {
  mount_attr wanted{};
  wanted.attr_set = attributes;
  check(::mount_setattr(AT_FDCWD, at.c_str(), recursive ? AT_RECURSIVE : 0, &wanted, sizeof wanted),
        "restrict the mount at " + at);
}

void make_private() { check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make all mounts private"); }

UniqueFd detached_tmpfs(unsigned long size, unsigned long inodes, const char* mode) {
  UniqueFd config(check(::fsopen("tmpfs", FSOPEN_CLOEXEC), "fsopen tmpfs"));
  const auto set = [&](const char* key, const std::string& value) {
    check(::fsconfig(config.get(), FSCONFIG_SET_STRING, key, value.c_str(), 0), std::string("tmpfs option ") + key);
  };
  set("source", "rookery");
  set("size", std::to_string(size));
  set("nr_inodes", std::to_string(inodes));
  set("mode", mode);
  check(::fsconfig(config.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), "create a tmpfs");
  return UniqueFd(check(::fsmount(config.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV), "fsmount tmpfs"));
}

UniqueFd clone_mount(int dirfd, const std::string& path, bool recursive) {
  const unsigned flags = OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | (recursive ? unsigned{AT_RECURSIVE} : 0u);
  return UniqueFd(check(::open_tree(dirfd, path.c_str(), flags), "open_tree " + path));
}

void attach(int mount_fd, const std::string& at) {
  check(::move_mount(mount_fd, "", AT_FDCWD, at.c_str(), MOVE_MOUNT_F_EMPTY_PATH), "move_mount to " + at);
}

void detach(const std::string& at) { check(::umount2(at.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW), "unmount " + at); }

void enter_root(const std::string& new_root) {
  check(::chdir(new_root.c_str()), "chdir " + new_root);
  // pivot_root(2), NOTES: with "." twice the old root ends up stacked on the new one and can be detached at once.
  check(static_cast<int>(::syscall(SYS_pivot_root, ".", ".")),
        "pivot_root to " + new_root + " (a process that was only chroot'ed cannot: start from a real root)");
  check(::umount2(".", MNT_DETACH), "detach the old root");
  check(::chdir("/"), "chdir /");
}

}  // namespace rookery::sys

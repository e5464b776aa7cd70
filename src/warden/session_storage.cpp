// SPDX-License-Identifier: Apache-2.0
#include "warden/session_storage.h"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>

#include "log/log.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "warden/leftovers.h"

namespace rookery::warden {

namespace {

void write_file(int directory, const char* name, const std::string& text) {
  const sys::UniqueFd fd(sys::check(::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), std::string("create ") + name));
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) sys::throw_errno(std::string("write ") + name);
}

}  // namespace

SessionStorage::SessionStorage(std::string root, std::string id, uid_t uid, const util::Settings& settings)
    : root_(std::move(root)), id_(std::move(id)) {
  const std::string path = root_ + "/" + id_;
  sys::check(::mkdir(path.c_str(), 0755), "make the session directory " + path);
  try {
    if (settings.workspace_on_disk) {
      const sys::UniqueFd directory(sys::check(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + path));
      populate(directory.get(), uid);
      return;
    }
    const sys::UniqueFd mount =
        sys::detached_tmpfs(std::uint64_t{settings.workspace_mb} << 20, settings.workspace_inodes, "0755");
    populate(mount.get(), uid);
    sys::attach(mount.get(), path);
    mounted_ = true;
  } catch (...) {
    ::rmdir(path.c_str());
    throw;
  }
}

SessionStorage::~SessionStorage() {
  const std::string path = root_ + "/" + id_;
  if (mounted_ && ::umount2(path.c_str(), MNT_DETACH) != 0) log::warning("a session's files could not be unmounted", {{"error", std::strerror(errno)}});
  if (::rmdir(path.c_str()) == 0) return;
  // A plain directory may hold very much: a child removes it, so that the warden goes on; it reaps the child as any other.
  const pid_t child = ::fork();
  if (child > 0) return;
  try {
    const sys::UniqueFd root(sys::check(::open(root_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the sessions root"));
    remove_tree(root.get(), id_);
  } catch (const std::exception& error) {
    log::warning("a session's files could not be removed", {{"error", error.what()}});
  }
  if (child == 0) ::_exit(0);
}

void SessionStorage::populate(int directory, uid_t uid) const {
  const auto make = [&](const std::string& name, mode_t mode, uid_t owner) {
    sys::check(::mkdirat(directory, name.c_str(), 0700), "make " + name);
    sys::check(::fchownat(directory, name.c_str(), owner, owner, AT_SYMLINK_NOFOLLOW), "chown " + name);
    sys::check(::fchmodat(directory, name.c_str(), mode, 0), "chmod " + name);
  };
  make("workspace", 0755, uid);
  make("tmp", 01777, uid);
  make("shm", 01777, uid);
  make("sessions", 0755, 0);
  make("sessions/" + id_, 0755, 0);
  const std::string id = std::to_string(uid);
  write_file(directory, "passwd", "root:x:0:0:root:/nonexistent:/usr/sbin/nologin\nsandbox:x:" + id + ":" + id + ":sandbox:/workspace:/bin/bash\n");
  write_file(directory, "group", "root:x:0:\nsandbox:x:" + id + ":\n");
  sys::check(::symlinkat("/workspace", directory, ("sessions/" + id_ + "/workspace").c_str()), "link the workspace");
}

sys::UniqueFd SessionStorage::clone() const { return sys::clone_mount(AT_FDCWD, root_ + "/" + id_); }

sys::UniqueFd SessionStorage::open_workspace() const {
  const std::string path = root_ + "/" + id_ + "/workspace";
  return sys::UniqueFd(sys::check(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + path));
}

}  // namespace rookery::warden

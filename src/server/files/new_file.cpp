// SPDX-License-Identifier: Apache-2.0
#include "server/files/new_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace rookery::server {

namespace {

constexpr std::string_view kHiddenPrefix = ".rookery-";

std::string descriptor_path(int fd) { return "/proc/self/fd/" + std::to_string(fd); }

}  // namespace

NewFile::NewFile(int workspace) noexcept : workspace_(::fcntl(workspace, F_DUPFD_CLOEXEC, 0)) {}

NewFile::~NewFile() {
  if (!hidden_.empty()) ::unlinkat(parents_.directory.get(), hidden_.c_str(), 0);
  if (!published_) sys::remove_directories(parents_);
}

int NewFile::open(WriteTarget target) {
  target_ = std::move(target);
  struct stat root {};
  if (!workspace_ || ::fstat(workspace_.get(), &root) != 0) return errno;
  owner_ = {root.st_uid, root.st_gid};
  parents_ = sys::make_directories(workspace_.get(), target_.parent, owner_);
  return parents_.directory ? open_temporary() : errno;
}

int NewFile::open_temporary() {
  // An unnamed file gets its name through /proc (linkat(2)), so without that there must be a name from the start.
  if (::access("/proc/self/fd", X_OK) == 0) {
    file_ = sys::open_beneath(parents_.directory.get(), ".", O_TMPFILE | O_WRONLY);
    if (file_) return 0;
    if (errno != EOPNOTSUPP && errno != EISDIR && errno != EINVAL) return errno;
  }
  std::string name = sys::random_name(kHiddenPrefix);
  file_ = sys::open_beneath_no_links(parents_.directory.get(), name, O_CREAT | O_EXCL | O_WRONLY);
  if (!file_) return errno;
  hidden_ = std::move(name);
  return 0;
}

int NewFile::move_to(WriteTarget target) {
  auto parents = sys::make_directories(workspace_.get(), target.parent, owner_);
  if (!parents.directory) return errno;
  if (!hidden_.empty() &&
      ::renameat(parents_.directory.get(), hidden_.c_str(), parents.directory.get(), hidden_.c_str()) != 0) {
    const int error = errno;
    sys::remove_directories(parents);
    return error;
  }
  sys::remove_directories(parents_);
  parents_ = std::move(parents);
  target_ = std::move(target);
  return 0;
}

int NewFile::write(std::string_view bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t written = ::write(file_.get(), bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

int NewFile::publish(mode_t mode, Existing existing, const RecordOwnWrite& record) {
  // Never a set-id bit; and the mode first, because afterwards it is the owner's to change.
  if (::fchmod(file_.get(), mode & 0777U) != 0 || !sys::give_to(file_.get(), owner_)) return errno;
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) return errno;
  if (record) record(version_of(status));
  int error = give_name(existing);
  if (error == ENOENT && hidden_.empty()) {
    // The directory was removed meanwhile, perhaps by another upload that failed. An unnamed file fits into any.
    auto again = sys::make_directories(workspace_.get(), target_.parent, owner_);
    if (!again.directory) return errno;
    parents_ = std::move(again);
    error = give_name(existing);
  }
  published_ = error == 0;
  return error;
}

int NewFile::give_name(Existing existing) {
  const int parent = parents_.directory.get();
  const char* name = target_.name.c_str();
  if (hidden_.empty()) {
    const int error = link_as(target_.name);
    if (error != EEXIST || existing == Existing::kRefuse) return error;
    std::string hidden = sys::random_name(kHiddenPrefix);
    const int failed = link_as(hidden);
    if (failed != 0) return failed;
    hidden_ = std::move(hidden);
  }
  const bool refuse = existing == Existing::kRefuse;
  if ((refuse ? ::renameat2(parent, hidden_.c_str(), parent, name, RENAME_NOREPLACE)
              : ::renameat(parent, hidden_.c_str(), parent, name)) != 0) {
    return errno;
  }
  hidden_.clear();
  return 0;
}

int NewFile::link_as(const std::string& name) {
  const int linked = ::linkat(AT_FDCWD, descriptor_path(file_.get()).c_str(), parents_.directory.get(), name.c_str(),
                              AT_SYMLINK_FOLLOW);
  return linked == 0 ? 0 : errno;
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>

#include "sys/unique_fd.h"
#include "util/settings.h"

namespace rookery::warden {

// One session's files: the directory <id> below the sessions root, by default a tmpfs of its own with size and inode
// limits, so that destroying it is one unmount whatever it holds. Below it:
//   workspace/  tmp/  shm/     the session's, to be bound to /workspace, /tmp and /dev/shm
//   passwd  group              for a flat jail, whose uid is the session's own
//   sessions/<id>/workspace    -> /workspace, where clients of the reference expect it
class SessionStorage {
 public:
  // `root` is the sessions root as the warden sees it; `uid` owns the writable directories. Throws std::system_error.
  SessionStorage(std::string root, std::string id, uid_t uid, const util::Settings& settings);
  ~SessionStorage();
  SessionStorage(const SessionStorage&) = delete;
  SessionStorage& operator=(const SessionStorage&) = delete;

  // A detached copy of the mount, for one jail to attach.
  [[nodiscard]] sys::UniqueFd clone() const;
  // The directory /workspace.
  [[nodiscard]] sys::UniqueFd open_workspace() const;

 private:
  void populate(int directory, uid_t uid) const;

  std::string root_;
  std::string id_;
  bool mounted_ = false;
};

}  // namespace rookery::warden

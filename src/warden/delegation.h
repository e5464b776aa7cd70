// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "sys/cgroup.h"
#include "sys/unique_fd.h"

namespace rookery::warden {

// Out of rookery's cgroup and back into the one it was started in, by what was opened beforehand. v2 only, where the
// supervisor itself is in the cgroup that it removes; empty on v1.
struct WayBack {
  sys::UniqueFd group_control;   // cgroup.subtree_control of rookery's cgroup
  sys::UniqueFd parent_control;  // and of the one it was started in
  sys::UniqueFd parent_procs;
  std::string parent_off;  // turns off there what rookery turned on; may be empty

  // Controllers off from the bottom up, then out: a cgroup other than the root must not hold processes while it passes
  // controllers on (cgroup-v2.rst, "No Internal Process Constraint"). The cgroups of sessions must be gone. What cannot
  // be undone stays; the caller sees it when the directory cannot be removed.
  void leave() const noexcept;
};

// Rookery's subtree below the cgroup that it was started in, with a leaf "self" for its own processes. On v2 the calling
// process moves there. An object that is destroyed before keep() undoes all of it, so that a start that fails leaves
// nothing behind.
class Delegation {
 public:
  // `group` may be made and used by `uid` and its group of the same number. Also removes what an earlier crash left.
  // Throws std::runtime_error that says what to do, or std::system_error.
  Delegation(const std::string& sessions_root, int sessions_root_fd, uid_t uid);
  ~Delegation();
  Delegation(const Delegation&) = delete;
  Delegation& operator=(const Delegation&) = delete;

  // From now on the supervisor removes it, by the result.
  [[nodiscard]] WayBack keep() noexcept;

  [[nodiscard]] const sys::CgroupLayout& layout() const noexcept { return layout_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] const sys::Cgroup& group() const noexcept { return group_; }
  [[nodiscard]] const sys::Cgroup& self() const noexcept { return self_; }

 private:
  void make(uid_t uid);
  void enable_in_parent();
  void undo() noexcept;

  sys::CgroupLayout layout_;
  std::string name_;
  sys::Cgroup group_;
  sys::Cgroup self_;
  WayBack way_back_;
  bool kept_ = false;
};

}  // namespace rookery::warden

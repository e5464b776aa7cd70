// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sys/unique_fd.h"

// cgroup v1 and v2 behind one interface. A Cgroup is one directory per hierarchy in use: one on v2, one for each
// of memory, pids, cpu and cpuacct on v1. See the kernel's admin-guide/cgroup-v2.rst and cgroup-v1/.
namespace rookery::sys {

struct CgroupLimits {
  std::uint64_t memory_bytes = 0;  // and no swap
  std::uint32_t pids = 0;
  std::uint32_t cpu_millis = 0;  // thousandths of a core
};

// Which hierarchies carry the controllers rookery needs.
class CgroupLayout {
 public:
  // Looks at /proc/self/mountinfo and /proc/self/cgroup. Where the cgroups are mounted read-only, as in a container, it has
  // them mounted again (cgroup_mount.h), which its directories then lead to as long as it lives. Throws std::runtime_error
  // that says what is missing and how to get it.
  static CgroupLayout discover();

  [[nodiscard]] bool unified() const noexcept { return unified_; }
  // The process's own directory in each hierarchy.
  [[nodiscard]] const std::vector<std::string>& own_directories() const noexcept { return directories_; }

 private:
  bool unified_ = false;
  std::vector<std::string> directories_;
  std::vector<UniqueFd> mounted_;
};

class Cgroup {
 public:
  // No cgroup, where a start goes without: nothing is made or limited, and what counts is empty files.
  Cgroup() = default;

  // Makes `name` below the process's own cgroup, for the caller to own. Throws std::system_error.
  static Cgroup create_below_own(const CgroupLayout& layout, const std::string& name);
  // Opens descriptors that a process was started with; in the order of descriptors().
  static Cgroup from_descriptors(bool unified, std::vector<UniqueFd> directories);

  // Makes a child. Throws std::system_error.
  [[nodiscard]] Cgroup create(const std::string& name) const;
  // Removes the empty child `name`. False while it is still in use or gone.
  bool remove(const std::string& name) const noexcept;

  // Lets `uid`/`gid` make and remove children and move processes there; the caller stays the owner and may remove
  // everything below it later.
  void delegate(uid_t uid, gid_t gid) const;
  // v2: passes the controllers on to children. No process may be in this cgroup itself then.
  void enable_controllers() const;
  // Throws std::system_error, or std::runtime_error where a controller is missing: also when there is no cgroup.
  void set_limits(const CgroupLimits& limits) const;
  // Moves a process. Throws std::system_error.
  void add(pid_t pid) const;
  // Sends SIGKILL to everything in it.
  void kill() const noexcept;
  [[nodiscard]] std::vector<pid_t> processes() const;

  // cgroup.procs of each hierarchy, open for writing: a process that writes "0" there moves itself.
  [[nodiscard]] std::vector<UniqueFd> open_procs() const;
  [[nodiscard]] UniqueFd open_cpu_usage() const;
  [[nodiscard]] UniqueFd open_memory_events() const;
  [[nodiscard]] UniqueFd open_pids_events() const;
  [[nodiscard]] UniqueFd open_memory_usage() const;
  [[nodiscard]] UniqueFd open_pids_current() const;

  // The v2 directory for CLONE_INTO_CGROUP; -1 on v1.
  [[nodiscard]] int clone_directory() const noexcept;
  [[nodiscard]] bool unified() const noexcept { return unified_; }
  [[nodiscard]] std::vector<int> descriptors() const;

 private:
  [[nodiscard]] UniqueFd open_file(const char* v2_name, const char* v1_name) const;

  bool unified_ = false;
  std::vector<UniqueFd> directories_;
};

}  // namespace rookery::sys

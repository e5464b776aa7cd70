// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"

namespace rookery::sys {

namespace {

// Where a file exists in one hierarchy only, the others are passed over.
bool write_if_there(int directory, const char* file, const std::string& value) {
  const UniqueFd fd(::openat(directory, file, O_WRONLY | O_CLOEXEC));
  if (!fd) {
    if (errno == ENOENT) return false;
    throw_errno(std::string("open ") + file);
  }
  if (::write(fd.get(), value.data(), value.size()) != static_cast<ssize_t>(value.size())) {
    throw_errno("write \"" + value + "\" to " + file);
  }
  return true;
}

UniqueFd open_directory(int at, const std::string& name) {
  return UniqueFd(check(::openat(at, name.c_str(), O_DIRECTORY | O_RDONLY | O_CLOEXEC | O_NOFOLLOW), "open cgroup " + name));
}

void make_directory(int at, const std::string& name) {
  if (::mkdirat(at, name.c_str(), 0755) != 0 && errno != EEXIST) throw_errno("make cgroup " + name);
}

}  // namespace

Cgroup Cgroup::create_below_own(const CgroupLayout& layout, const std::string& name) {
  Cgroup group;
  group.unified_ = layout.unified();
  for (const std::string& own : layout.own_directories()) {
    const UniqueFd parent = open_directory(AT_FDCWD, own);
    make_directory(parent.get(), name);
    group.directories_.push_back(open_directory(parent.get(), name));
  }
  return group;
}

Cgroup Cgroup::from_descriptors(bool unified, std::vector<UniqueFd> directories) {
  Cgroup group;
  group.unified_ = unified;
  group.directories_ = std::move(directories);
  return group;
}

Cgroup Cgroup::create(const std::string& name) const {
  Cgroup child;
  child.unified_ = unified_;
  for (const UniqueFd& directory : directories_) {
    make_directory(directory.get(), name);
    child.directories_.push_back(open_directory(directory.get(), name));
  }
  return child;
}

bool Cgroup::remove(const std::string& name) const noexcept {
  bool gone = true;
  for (const UniqueFd& directory : directories_) {
    if (::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) != 0 && errno != ENOENT) gone = false;
  }
  return gone;
}

void Cgroup::delegate(uid_t uid, gid_t gid) const {
  for (const UniqueFd& directory : directories_) {
    // The directory itself stays its maker's, with the group allowed to make and remove children.
    check(::fchown(directory.get(), static_cast<uid_t>(-1), gid), "chown a cgroup");
    check(::fchmod(directory.get(), 0775), "chmod a cgroup");
    for (const char* file : {"cgroup.procs", "tasks", "cgroup.threads", "cgroup.subtree_control"}) {
      if (::fchownat(directory.get(), file, uid, gid, AT_SYMLINK_NOFOLLOW) != 0 && errno != ENOENT) {
        throw_errno(std::string("chown ") + file);
      }
    }
  }
}

void Cgroup::enable_controllers() const {
  if (!unified_) return;
  write_if_there(directories_.front().get(), "cgroup.subtree_control", "+memory +pids +cpu");
}

void Cgroup::set_limits(const CgroupLimits& limits) const {
  constexpr unsigned period_us = 100000;
  const std::string memory = std::to_string(limits.memory_bytes);
  const std::string quota = std::to_string(std::uint64_t{limits.cpu_millis} * period_us / 1000);
  bool memory_set = false;
  bool pids_set = false;
  bool cpu_set = false;
  for (const UniqueFd& directory : directories_) {
    const int at = directory.get();
    pids_set |= write_if_there(at, "pids.max", std::to_string(limits.pids));
    if (unified_) {
      memory_set |= write_if_there(at, "memory.max", memory);
      write_if_there(at, "memory.swap.max", "0");
      cpu_set |= write_if_there(at, "cpu.max", quota + " " + std::to_string(period_us));
    } else {
      if (write_if_there(at, "memory.limit_in_bytes", memory)) {
        memory_set = true;
        // Without swap accounting the swappiness keeps pages from being swapped.
        if (!write_if_there(at, "memory.memsw.limit_in_bytes", memory)) write_if_there(at, "memory.swappiness", "0");
      }
      if (write_if_there(at, "cpu.cfs_period_us", std::to_string(period_us))) {
        cpu_set |= write_if_there(at, "cpu.cfs_quota_us", quota);
      }
    }
  }
  if (!memory_set || !pids_set || !cpu_set) throw std::runtime_error("a cgroup controller is missing: need memory, pids, cpu");
}

void Cgroup::add(pid_t pid) const {
  for (const UniqueFd& directory : directories_) write_if_there(directory.get(), "cgroup.procs", std::to_string(pid));
}

std::vector<pid_t> Cgroup::processes() const {
  std::vector<pid_t> pids;
  if (directories_.empty()) return pids;
  const UniqueFd list(::openat(directories_.front().get(), "cgroup.procs", O_RDONLY | O_CLOEXEC));
  if (!list) return pids;
  const std::string text = read_all(list.get());
  for (std::size_t at = 0; at < text.size();) {
    pids.push_back(static_cast<pid_t>(std::strtol(text.c_str() + at, nullptr, 10)));
    const std::size_t end = text.find('\n', at);
    if (end == std::string::npos) break;
    at = end + 1;
  }
  return pids;
}

void Cgroup::kill() const noexcept {
  try {
    if (unified_ && write_if_there(directories_.front().get(), "cgroup.kill", "1")) return;
    for (const pid_t pid : processes()) {
      if (pid > 0) ::kill(pid, SIGKILL);
    }
  } catch (const std::exception&) {
    // Gone already, or about to be: the caller looks again.
  }
}

UniqueFd Cgroup::open_file(const char* v2_name, const char* v1_name) const {
  if (directories_.empty()) return sealed_memfd("no-cgroup", "");
  const char* name = unified_ ? v2_name : v1_name;
  for (const UniqueFd& directory : directories_) {
    UniqueFd file(::openat(directory.get(), name, O_RDONLY | O_CLOEXEC));
    if (file) return file;
  }
  throw_errno(std::string("open ") + name);
}

std::vector<UniqueFd> Cgroup::open_procs() const {
  std::vector<UniqueFd> files;
  for (const UniqueFd& directory : directories_) {
    files.emplace_back(check(::openat(directory.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC), "open cgroup.procs"));
  }
  return files;
}

UniqueFd Cgroup::open_cpu_usage() const { return open_file("cpu.stat", "cpuacct.usage"); }
UniqueFd Cgroup::open_memory_events() const { return open_file("memory.events", "memory.oom_control"); }
UniqueFd Cgroup::open_pids_events() const { return open_file("pids.events", "pids.events"); }
UniqueFd Cgroup::open_memory_usage() const { return open_file("memory.current", "memory.usage_in_bytes"); }
UniqueFd Cgroup::open_pids_current() const { return open_file("pids.current", "pids.current"); }

int Cgroup::clone_directory() const noexcept { return unified_ ? directories_.front().get() : -1; }

std::vector<int> Cgroup::descriptors() const {
  std::vector<int> fds;
  for (const UniqueFd& directory : directories_) fds.push_back(directory.get());
  return fds;
}

}  // namespace rookery::sys

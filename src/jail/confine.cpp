// SPDX-License-Identifier: Apache-2.0
#include "jail/confine.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <stdexcept>

#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/landlock.h"

namespace rookery::jail {

namespace {

void limit(__rlimit_resource resource, const char* name, const rlimit& both) {
  if (::setrlimit(resource, &both) == 0) return;
  const std::string what = "setrlimit " + std::string(name) + " to " + std::to_string(both.rlim_max);
  if (errno == EPERM) throw std::runtime_error(what + ": the start has less (ulimit -H, or a service manager's Limit): raise that");
  sys::throw_errno(what);
}

void limit(__rlimit_resource resource, const char* name, rlim_t value) { limit(resource, name, rlimit{value, value}); }

void apply_limits(const Limits& limits) {
  limit(RLIMIT_CORE, "RLIMIT_CORE", 0);
  limit(RLIMIT_FSIZE, "RLIMIT_FSIZE", limits.file_size);
  limit(RLIMIT_MEMLOCK, "RLIMIT_MEMLOCK", 8u << 20);
  limit(RLIMIT_MSGQUEUE, "RLIMIT_MSGQUEUE", 819200);
  limit(RLIMIT_NICE, "RLIMIT_NICE", 0);
  limit(RLIMIT_NOFILE, "RLIMIT_NOFILE", limits.open_files + kReservedDescriptors);
  limit(RLIMIT_NPROC, "RLIMIT_NPROC", limits.processes != 0 ? limits.processes : 4096);
  if (limits.data != 0) limit(RLIMIT_DATA, "RLIMIT_DATA", limits.data);
  limit(RLIMIT_RTPRIO, "RLIMIT_RTPRIO", 0);
  limit(RLIMIT_SIGPENDING, "RLIMIT_SIGPENDING", 4096);
  limit(RLIMIT_STACK, "RLIMIT_STACK", {8u << 20, 64u << 20});
}

}  // namespace

void enter_cgroup(const std::vector<int>& procs) {
  for (const int file : procs) {
    if (::write(file, "0", 1) != 1) sys::throw_errno("enter the session's cgroup");
  }
}

void confine(const Limits& limits, const sys::SeccompFilter& filter) {
  apply_limits(limits);
  sys::keep_only_capabilities({});
  sys::set_no_new_privileges();
  sys::landlock_confine({.readable = {"/"},
                         .devices = {"/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/pts"},
                         .writable = {"/workspace", "/tmp", "/dev/shm"}});
  sys::verify_dropped({});
  sys::check(filter.load(), "load the seccomp filter");
  if (::unshare(CLONE_NEWUSER) == 0 || errno != EPERM) throw std::logic_error("the seccomp filter is not in force");
}

}  // namespace rookery::jail

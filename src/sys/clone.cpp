// SPDX-License-Identifier: Apache-2.0
#include "sys/clone.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <string>
#include <system_error>

#include "sys/error.h"
#include "sys/file.h"

namespace rookery::sys {

namespace {

Cloned clone_process(std::uint64_t flags, int cgroup, pid_t pid) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  if (pid > 0) {
    arguments.set_tid = reinterpret_cast<std::uint64_t>(&pid);
    arguments.set_tid_size = 1;
  }
  Cloned cloned;
  cloned.pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (cloned.pid < 0) throw_errno("clone3 into new namespaces");
  if (cloned.pid > 0) cloned.pidfd.reset(pidfd);
  return cloned;
}

}  // namespace

Cloned clone_process(std::uint64_t flags, int cgroup) { return clone_process(flags, cgroup, 0); }

Cloned clone_process_with_high_pid(std::uint64_t flags) {
  const pid_t half = std::stoi(read_file("/proc/sys/kernel/pid_max")) / 2;
  std::random_device random;
  std::uniform_int_distribution<pid_t> upper_half(half, 2 * half - 1);
  for (int attempt = 1;; ++attempt) {
    try {
      return clone_process(flags, -1, upper_half(random));
    } catch (const std::system_error& error) {
      if (error.code() != std::errc::file_exists || attempt == 16) throw;
    }
  }
}

void reap(int pidfd) noexcept {
  siginfo_t info{};
  while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

void signal_process(int pidfd, int signal) noexcept { ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0); }

}  // namespace rookery::sys

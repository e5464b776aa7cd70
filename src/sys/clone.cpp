// SPDX-License-Identifier: Apache-2.0
#include "sys/clone.h"

#include <linux/sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sys/error.h"

namespace rookery::sys {

Cloned clone_process(std::uint64_t flags, int cgroup) {
  int pidfd = -1;
  clone_args arguments{};
  arguments.flags = flags | CLONE_PIDFD;
  arguments.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
  arguments.exit_signal = SIGCHLD;
  if (cgroup >= 0) {
    arguments.flags |= CLONE_INTO_CGROUP;
    arguments.cgroup = static_cast<std::uint64_t>(cgroup);
  }
  Cloned cloned;
  cloned.pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
  if (cloned.pid < 0) throw_errno("clone3 into new namespaces");
  if (cloned.pid > 0) cloned.pidfd.reset(pidfd);
  return cloned;
}

void reap(int pidfd) noexcept {
  siginfo_t info{};
  while (::waitid(static_cast<idtype_t>(P_PIDFD), static_cast<id_t>(pidfd), &info, WEXITED) != 0 && errno == EINTR) {
  }
}

void signal_process(int pidfd, int signal) noexcept { ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0); }

}  // namespace rookery::sys

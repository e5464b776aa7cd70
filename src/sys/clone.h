// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "sys/unique_fd.h"

namespace rookery::sys {

struct Cloned {
  pid_t pid = -1;  // 0 in the child
  UniqueFd pidfd;  // in the parent: readable once the child has ended
};

// fork() into new namespaces: clone3(2) with `flags` (CLONE_NEW*) and, on cgroup v2, straight into a cgroup
// (`cgroup` -1: none). The caller must be single-threaded. Throws std::system_error.
Cloned clone_process(std::uint64_t flags, int cgroup = -1);

// The same, with a process id from the upper half of what the kernel gives out, at random. Needs CAP_SYS_ADMIN in the user
// namespace that owns the PID namespace, and Linux 5.5. Throws std::system_error.
Cloned clone_process_with_high_pid(std::uint64_t flags);

// Waits for the end of a child and reaps it, unless that has been done already.
void reap(int pidfd) noexcept;

// pidfd_send_signal(2); errors (it has ended already) are ignored.
void signal_process(int pidfd, int signal) noexcept;

}  // namespace rookery::sys

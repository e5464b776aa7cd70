// SPDX-License-Identifier: Apache-2.0
#include "sys/whole_proc.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sys/error.h"
#include "sys/mount.h"

namespace rookery::sys {

namespace {

// The end of a child that exits with an errno.
int outcome(pid_t child) {
  int status = 0;
  if (child < 0 || ::waitpid(child, &status, 0) < 0) return errno;
  return WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
}

}  // namespace

int try_fresh_proc() {
  const pid_t child = ::fork();
  if (child != 0) return outcome(child);
  if (::unshare(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID) != 0) ::_exit(errno);
  // A proc shows the PID namespace of who mounts it, which is one's children's.
  const pid_t inner = ::fork();
  if (inner == 0) ::_exit(::mount("proc", "/proc", "proc", 0, nullptr) == 0 ? 0 : errno);
  ::_exit(outcome(inner));
}

void unmask_proc() {
  check(::unshare(CLONE_NEWNS), "unshare the mount namespace");
  make_private();
  mount_fs("proc", "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC);
}

}  // namespace rookery::sys

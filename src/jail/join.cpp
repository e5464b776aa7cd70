// SPDX-License-Identifier: Apache-2.0
#include "jail/join.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/unique_fd.h"

namespace rookery::jail {

namespace {

constexpr int kChannel = 3;

void enter_namespaces(const Membership& membership) {
  int namespaces = CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP;
  if (membership.nested) namespaces |= CLONE_NEWUSER;
  sys::check(::setns(membership.init, namespaces), "enter the jail's namespaces");
}

void arrange_descriptors(const Membership& membership) {
  const int sources[] = {membership.standard_output, membership.standard_error, membership.channel};
  int moved[3];
  for (int i = 0; i < 3; ++i) moved[i] = sys::check(::fcntl(sources[i], F_DUPFD_CLOEXEC, 64), "move a descriptor");
  for (int i = 0; i < 3; ++i) sys::check(::dup2(moved[i], 1 + i), "dup2");
  const sys::UniqueFd null(sys::check(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null"));
  sys::check(::dup2(null.get(), 0), "dup2 /dev/null");
  sys::check(::close_range(kChannel + 1, ~0u, 0), "close all other descriptors");
}

}  // namespace

void join(const Membership& membership, const Limits& limits, const sys::SeccompFilter& filter) {
  enter_cgroup(membership.cgroup_procs);
  enter_namespaces(membership);
  // A session may have closed its workspace to itself; setns(2) has left this process at the root.
  [[maybe_unused]] const int at_root = ::chdir("/workspace");
  ::umask(022);
  ::setsid();
  sys::take_ids(membership.uid, membership.uid);
  arrange_descriptors(membership);
  confine(limits, filter);
  // A change of ids clears it; an interpreter that was exec'd has it, and reads its own /proc files with it.
  sys::check(::prctl(PR_SET_DUMPABLE, 1), "make the process dumpable again");
}

}  // namespace rookery::jail

// SPDX-License-Identifier: Apache-2.0
#include "sys/confinement.h"

#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>

#include <cerrno>
#include <stdexcept>

#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/seccomp.h"

namespace rookery::sys {

// The order is the security property: what a step needs goes in a later one.
void confine(std::span<const cap_value_t> kept, std::string_view policy) {
  keep_only_capabilities(kept);
  set_no_new_privileges();
  check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "set the parent-death signal");
  check(::prctl(PR_SET_DUMPABLE, 0), "make the process not dumpable");
  verify_dropped(kept);
  const SeccompFilter filter = SeccompFilter::compile(policy);
  check(filter.load(), "load the seccomp filter");
  if (::unshare(CLONE_NEWUSER) == 0 || (errno != EPERM && errno != ENOSYS)) throw std::logic_error("the seccomp filter is not in force");
}

}  // namespace rookery::sys

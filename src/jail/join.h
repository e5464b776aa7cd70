// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "jail/confine.h"

namespace rookery::jail {

// What a process that the zygote has just forked needs to become a member of a jail.
struct Membership {
  int init = -1;  // pidfd of the jail's init
  int channel = -1;
  int standard_output = -1;
  int standard_error = -1;
  std::vector<int> cgroup_procs;  // writable, one a hierarchy
  uid_t uid = 1000;               // as seen inside
  bool nested = true;
};

// Moves the calling process, which is in the jail's PID namespace already, into its cgroup and its other namespaces,
// takes the session's ids, arranges the descriptors (0 /dev/null, 1 and 2 the pipes, 3 the channel, nothing else)
// and confines it like every process of the jail. Throws.
void join(const Membership& membership, const Limits& limits, const sys::SeccompFilter& filter);

}  // namespace rookery::jail

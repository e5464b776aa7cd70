// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <vector>

#include "jail/confine.h"
#include "jail/image.h"
#include "sys/seccomp.h"

namespace rookery::jail {

// Everything the jailed side of a set-up needs. All pointers outlive the call.
struct Entry {
  const Image* image = nullptr;
  const sys::SeccompFilter* filter = nullptr;
  Limits limits;
  bool nested = true;        // in a user namespace of its own; else flat, directly in the warden's
  uid_t uid = 1000;          // the uid to become, as seen inside
  int session_tree = -1;     // detached mount: workspace/, tmp/, shm/, sessions/
  int warden_channel = -1;   // becomes fd 3: set-up errors, then the init's channel to the warden
  int server_channel = -1;   // becomes fd 4
  int standard_output = -1;  // becomes fd 5: what programs of the jail get as fd 1
  int standard_error = -1;   // becomes fd 6
  bool timed = false;        // tell the warden how long each step took
  std::vector<int> cgroup_procs;  // writable, one a hierarchy; none where the clone has entered the cgroup
};

// The body of a new jail's first process, called right after clone3 with the new namespaces: the flat list of
// DESIGN section 2. Ends in exec of the init. A step that fails is reported on the warden's channel and ends the jail.
[[noreturn]] void enter(const Entry& entry) noexcept;

}  // namespace rookery::jail

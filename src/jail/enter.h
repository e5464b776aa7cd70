// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "jail/image.h"
#include "sys/seccomp.h"

namespace rookery::jail {

// rlimits that come from the settings; the fixed ones stand in the code of apply_limits.
struct Limits {
  std::uint64_t file_size = 0;   // bytes
  std::uint32_t open_files = 0;  // per process; the interpreter gets a few more for its own use
};

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
};

// The body of a new jail's first process, called right after clone3 with the new namespaces: the flat list of
// DESIGN section 2. Ends in exec of the init. A step that fails is reported on the warden's channel and ends the jail.
[[noreturn]] void enter(const Entry& entry) noexcept;

// The part of it that every process of a jail goes through, whoever started it: limits, ids, capabilities, Landlock,
// no_new_privs and, last, the filter. Verified by trying to undo each. Throws.
void confine(const Entry& entry);

// The number of descriptors the init and a starting interpreter may use above Limits::open_files.
constexpr std::uint32_t kReservedDescriptors = 1024;

}  // namespace rookery::jail

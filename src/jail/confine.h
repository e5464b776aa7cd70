// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

#include "sys/seccomp.h"

namespace rookery::jail {

// rlimits that come from the settings; the fixed ones stand in the code.
struct Limits {
  std::uint64_t file_size = 0;   // bytes
  std::uint32_t open_files = 0;  // per process; the interpreter gets a few more for its own use
  // Where no cgroup limits the session (util::Weaker::no_cgroup), else 0: bytes of data a process (RLIMIT_DATA, which unlike
  // RLIMIT_AS does not count what is only reserved), and processes and threads of the session's uid (RLIMIT_NPROC).
  std::uint64_t data = 0;
  std::uint32_t processes = 0;
};

// Moves the calling process, by the writable cgroup.procs of each hierarchy, so that the memory it touches from here on
// is the session's. Throws.
void enter_cgroup(const std::vector<int>& procs);

// What every process of a jail goes through before it runs anything of the session's, whoever started it: limits,
// capabilities, no_new_privs, Landlock and, last, the filter. Verified by trying to undo each. The caller has the
// session's ids already. Throws.
void confine(const Limits& limits, const sys::SeccompFilter& filter);

// The number of descriptors the init and a starting interpreter may use above Limits::open_files.
constexpr std::uint32_t kReservedDescriptors = 1024;

}  // namespace rookery::jail

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sys/unique_fd.h"

namespace rookery::sys {

// The Landlock ABI version of the running kernel; 0 where there is none (landlock(7)).
[[nodiscard]] int landlock_abi() noexcept;

struct LandlockPaths {
  std::vector<std::string> readable;  // read and execute below these
  std::vector<std::string> devices;   // read, write and ioctl, nothing made or removed
  std::vector<std::string> writable;  // everything below these
};

// Confines the calling thread, which must have set no_new_privs: outside `paths` nothing can be opened.
// Paths that do not exist are left out.
// Does nothing on a kernel without Landlock. Throws std::system_error.
void landlock_confine(const LandlockPaths& paths);

}  // namespace rookery::sys

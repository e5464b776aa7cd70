// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string_view>

namespace rookery::jail {

// Starts the programs of a jail, for its init. stdin is /dev/null, stdout and stderr are the session's pipes, nothing
// else is inherited; each gets a session (setsid(2)) of its own.
struct Programs {
  const char* interpreter = nullptr;
  unsigned open_files = 256;

  // `bash -c command` in /workspace; `script`, where it is not -1, becomes its fd kScript. The pid, or -1 when no process
  // could be made.
  pid_t start_bash(std::string_view command, int script) const;
  // A bash that waits for its command on `channel` (spare_bash_preload.cpp).
  pid_t start_waiting_bash(int channel) const;

  // The Python driver with `channel` as fd 3.
  pid_t start_interpreter(int channel) const;
};

}  // namespace rookery::jail

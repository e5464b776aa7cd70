// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>

// The interpreter's private descriptors. User code owns fds 0-2 and everything below the limit on
// open files; what the driver needs lies above it, where `os.closerange(0, 256)`, `os.dup2` and
// writes to guessed numbers do not reach, and close-on-exec, so that no child inherits it.
namespace rookery::repl {

constexpr int kFirstPrivateDescriptor = 1000;

struct PrivateDescriptors {
  int channel = -1;           // SOCK_SEQPACKET to the server
  int standard[3] = {-1, -1, -1};  // copies of fds 0, 1 and 2 as they were at start
};

// Moves `channel` up and closes the old number, copies fds 0-2, then lowers the soft and the hard limit on
// open files to `open_files`. Returns 0 or an errno; after an error the process is of no use.
[[nodiscard]] int claim_descriptors(int channel, unsigned long open_files, PrivateDescriptors& result) noexcept;

// Puts fds 0-2 back, without close-on-exec, and makes 1 and 2 blocking again: O_NONBLOCK sits on the
// pipe itself and would outlive the cell. Returns 0 or an errno (EBADF: the private copies are gone).
[[nodiscard]] int restore_standard(const PrivateDescriptors& descriptors) noexcept;

// Writes everything to `fd`, waiting where it would block. False when it cannot be written.
bool write_all(int fd, std::string_view text) noexcept;

}  // namespace rookery::repl

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/epoll.h>

#include <cstdint>
#include <vector>

#include "sys/unique_fd.h"

namespace rookery::warden {

// epoll(7) with a number per descriptor. A descriptor has to be removed before it is closed (epoll(7), Q6).
class Poller {
 public:
  Poller();
  void add(int fd, std::uint64_t tag, std::uint32_t events = EPOLLIN);
  void remove(int fd) noexcept;
  // The tags of what is ready; waits at most `timeout_ms` (-1: for ever).
  [[nodiscard]] std::vector<std::uint64_t> wait(int timeout_ms);

 private:
  sys::UniqueFd epoll_;
};

}  // namespace rookery::warden

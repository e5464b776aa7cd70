// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rookery::server {

// The kernel's own counters of one session's cgroup, read from the descriptors of a lease (wire/warden_messages.h).
struct Counters {
  std::uint64_t cpu_us = 0;      // CPU time used, microseconds
  std::uint64_t oom_kills = 0;   // processes that the memory limit ended
  std::uint64_t pids_denied = 0; // forks that the pids limit refused
};

// cgroup v1 cpuacct.usage (nanoseconds, a bare number) or v2 cpu.stat ("usage_usec N").
[[nodiscard]] std::uint64_t read_cpu_us(int fd) noexcept;
[[nodiscard]] std::uint64_t read_oom_kills(int fd) noexcept;
[[nodiscard]] std::uint64_t read_pids_denied(int fd) noexcept;

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace rookery::server {

// The kernel's own counters of one session's cgroup, read from the descriptors of a lease (wire/warden_messages.h); 0 when
// one cannot be read.

// A file that is one number: memory.current, memory.usage_in_bytes, pids.current.
[[nodiscard]] std::uint64_t read_number(int fd) noexcept;
// CPU time used, microseconds: cgroup v1 cpuacct.usage (nanoseconds, a bare number) or v2 cpu.stat ("usage_usec N").
[[nodiscard]] std::uint64_t read_cpu_us(int fd) noexcept;
// Processes that the memory limit ended.
[[nodiscard]] std::uint64_t read_oom_kills(int fd) noexcept;
// Forks that the pids limit refused.
[[nodiscard]] std::uint64_t read_pids_denied(int fd) noexcept;

}  // namespace rookery::server

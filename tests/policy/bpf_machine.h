// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <cstdint>
#include <vector>

namespace rookery::policy {

// What a seccomp program answers for one system call, found without the kernel: the classic BPF of seccomp(2), which
// reads aligned words of seccomp_data only. Throws std::runtime_error for an instruction or an address that the kernel would
// refuse to load (kernel/seccomp.c, seccomp_check_filter), and for a program that runs off its end.
std::uint32_t run(const std::vector<sock_filter>& program, const seccomp_data& data);

// The answer of several programs, the one loaded last first: the strictest, and of equals that of the last loaded.
std::uint32_t run_all(const std::vector<std::vector<sock_filter>>& programs, const seccomp_data& data);

}  // namespace rookery::policy

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sched.h>

namespace rookery::sys {

// Keeps its thread on one processor for a moment (sched_setaffinity(2)). Two threads that talk in turns then hand over to each
// other there; left to the kernel, each wakes an idle processor, which takes longer than a short call runs.
// For one thread, which also destroys it. Processors that a cpuset(7) gains later are not used by a thread that was pinned before.
class CpuPin {
 public:
  CpuPin() = default;
  CpuPin(const CpuPin&) = delete;
  CpuPin& operator=(const CpuPin&) = delete;
  ~CpuPin() { release(); }

  // To the processor that the thread runs on. Nothing happens where it is pinned already, and where that is not to be had: the
  // thread may run on one only, or the kernel refuses.
  void here() noexcept;
  // To `cpu`, counted from 0. Nothing happens, too, where the thread may not run there.
  void to(int cpu) noexcept;
  // Lets the thread run where it was allowed to before.
  void release() noexcept;

  // Where it is pinned to; -1: nowhere.
  [[nodiscard]] int cpu() const noexcept { return cpu_; }

 private:
  cpu_set_t before_{};  // where the thread may run when it is not pinned
  int cpu_ = -1;
};

}  // namespace rookery::sys

// SPDX-License-Identifier: Apache-2.0
#include "sys/cpu_pin.h"

#include <cstring>

namespace rookery::sys {

void CpuPin::here() noexcept { to(::sched_getcpu()); }

void CpuPin::to(int cpu) noexcept {
  if (cpu_ >= 0 || cpu < 0 || cpu >= CPU_SETSIZE) return;
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) return;  // EINVAL: more processors than the set has room for
  if (!CPU_ISSET(static_cast<unsigned>(cpu), &before_) || CPU_COUNT(&before_) < 2) return;
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(static_cast<unsigned>(cpu), &one);
  if (::sched_setaffinity(0, sizeof one, &one) == 0) cpu_ = cpu;
}

void CpuPin::release() noexcept {
  if (cpu_ < 0) return;
  cpu_ = -1;
  if (::sched_setaffinity(0, sizeof before_, &before_) == 0) return;
  // None of these may be used any more (cpuset(7)): any that may.
  cpu_set_t all;
  std::memset(&all, 0xff, sizeof all);
  ::sched_setaffinity(0, sizeof all, &all);
}

}  // namespace rookery::sys

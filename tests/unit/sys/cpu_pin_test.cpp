// SPDX-License-Identifier: Apache-2.0
#include "sys/cpu_pin.h"

#include <doctest/doctest.h>

#include <initializer_list>

using namespace rookery;

namespace {

cpu_set_t allowed() {
  cpu_set_t set;
  REQUIRE(::sched_getaffinity(0, sizeof set, &set) == 0);
  return set;
}

bool same(const cpu_set_t& a, const cpu_set_t& b) { return CPU_EQUAL(&a, &b); }

int last_of(const cpu_set_t& set) {
  int cpu = CPU_SETSIZE - 1;
  while (!CPU_ISSET(static_cast<unsigned>(cpu), &set)) --cpu;
  return cpu;
}

}  // namespace

TEST_CASE("a pinned thread stays where it is told to, and may run where it was allowed to afterwards") {
  const cpu_set_t before = allowed();
  const int wanted = CPU_COUNT(&before) > 1 ? last_of(before) : -1;  // with one processor there is nothing to choose
  {
    sys::CpuPin pin;
    CHECK(pin.cpu() == -1);
    pin.to(last_of(before));
    CHECK(pin.cpu() == wanted);
    const cpu_set_t pinned = allowed();
    CHECK(CPU_COUNT(&pinned) == 1);
    CHECK(CPU_ISSET(static_cast<unsigned>(last_of(before)), &pinned));
    pin.here();  // no other place while it is pinned
    CHECK(pin.cpu() == wanted);
    pin.release();
    CHECK(pin.cpu() == -1);
    CHECK(same(allowed(), before));
    pin.here();
    CHECK((pin.cpu() >= 0) == (wanted >= 0));
  }
  CHECK(same(allowed(), before));
}

TEST_CASE("a processor that the thread may not run on changes nothing") {
  const cpu_set_t before = allowed();
  sys::CpuPin pin;
  for (const int cpu : {-1, CPU_SETSIZE, CPU_SETSIZE - 1}) {
    if (cpu == CPU_SETSIZE - 1 && CPU_ISSET(static_cast<unsigned>(cpu), &before)) continue;
    pin.to(cpu);
    CHECK(pin.cpu() == -1);
    CHECK(same(allowed(), before));
  }
}

TEST_CASE("a thread that may run on one processor only is left alone") {
  const cpu_set_t before = allowed();
  sys::CpuPin outer;
  outer.here();
  sys::CpuPin inner;
  inner.here();
  CHECK(inner.cpu() == -1);
  outer.release();
  CHECK(same(allowed(), before));
}

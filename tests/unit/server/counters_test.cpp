// SPDX-License-Identifier: Apache-2.0
#include "server/counters.h"

#include <doctest/doctest.h>

#include "sys/socket.h"

using namespace rookery;

TEST_CASE("the kernel's counters are read in both cgroup versions") {
  CHECK(server::read_cpu_us(sys::sealed_memfd("v1", "123456789\n").get()) == 123456);
  CHECK(server::read_cpu_us(sys::sealed_memfd("v2", "usage_usec 4242\nuser_usec 1\n").get()) == 4242);
  CHECK(server::read_oom_kills(sys::sealed_memfd("v1", "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n").get()) == 3);
  CHECK(server::read_oom_kills(sys::sealed_memfd("v2", "low 0\nhigh 0\nmax 9\noom 2\noom_kill 1\noom_group_kill 5\n").get()) == 1);
  CHECK(server::read_pids_denied(sys::sealed_memfd("pids", "max 17\n").get()) == 17);
}

TEST_CASE("a counter that cannot be read counts nothing") {
  CHECK(server::read_cpu_us(-1) == 0);
  CHECK(server::read_oom_kills(sys::sealed_memfd("empty", "").get()) == 0);
  CHECK(server::read_pids_denied(sys::sealed_memfd("odd", "maximum 3\n").get()) == 0);
}

// SPDX-License-Identifier: Apache-2.0
#include "warden/demand.h"

#include <doctest/doctest.h>

using rookery::warden::Demand;

namespace {
const Demand::Clock::time_point kStart{std::chrono::hours(1)};
}

TEST_CASE("a burst that finds no jail ready grows the pool, within bounds") {
  Demand demand(8);
  CHECK(demand.ahead() == 8);
  demand.missed(kStart);
  CHECK(demand.ahead() == 10);
  for (int i = 0; i < 100; ++i) demand.missed(kStart);
  CHECK(demand.ahead() == 8 * Demand::kGrowth);
}

TEST_CASE("a burst that is over is forgotten, once") {
  Demand demand(8);
  CHECK_FALSE(demand.settle(kStart));
  demand.missed(kStart);
  CHECK(demand.grown());
  CHECK_FALSE(demand.settle(kStart + Demand::kMemory / 2));
  CHECK(demand.settle(kStart + Demand::kMemory));
  CHECK(demand.ahead() == 8);
  CHECK_FALSE(demand.settle(kStart + 2 * Demand::kMemory));
}

TEST_CASE("without a pool nothing is built ahead, whatever comes") {
  Demand demand(0);
  demand.missed(kStart);
  CHECK(demand.ahead() == 0);
  CHECK(demand.urgent(0));
}

TEST_CASE("few ready jails are urgent, a nearly full pool is not") {
  const Demand demand(8);
  CHECK(demand.urgent(2));
  CHECK_FALSE(demand.urgent(3));
}

// SPDX-License-Identifier: Apache-2.0
#include "warden/setup_times.h"

#include <doctest/doctest.h>

#include <algorithm>

using rookery::warden::SetupTimes;

TEST_CASE("times are told in order, the warden's and the jail's, with their total") {
  SetupTimes times(true);
  times.lap("clone3");
  times.add_told("proc\t1500\ndevpts\t20\n");
  const std::string lines = times.lines();
  CHECK(lines.starts_with("setup\twarden: clone3\t"));
  CHECK(lines.find("\nsetup\tjail: proc\t1500\nsetup\tjail: devpts\t20\nsetup\ttotal\t") != std::string::npos);
}

TEST_CASE("times nobody wants take no memory") {
  SetupTimes times(false);
  for (int i = 0; i < 1000; ++i) times.lap("step");
  times.add_told("proc\t1\n");
  CHECK(times.lines() == "setup\ttotal\t0\n");
}

TEST_CASE("nonsense from a jail is left out, and no more than some steps are taken") {
  SetupTimes times(true);
  times.add_told("no tab\nname\tno number\n\n\t\nlast");
  CHECK(times.lines() == "setup\ttotal\t0\n");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "step\t1\n";
  times.add_told(many);
  const std::string lines = times.lines();
  CHECK(std::count(lines.begin(), lines.end(), '\n') == 65);
}

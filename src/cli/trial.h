// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rookery::cli {

// What came of a jail that was made for a look: by `rookery run`, in processes of its own, with the settings of the environment.
struct Trial {
  bool good = false;
  bool flat = false;  // without a user namespace of its own
  std::string error;  // the last line it said, where it is not good
  std::vector<std::pair<std::string, long long>> steps;  // name, nanoseconds
};

Trial try_a_jail();

// The table of `check --timing`: each step's median over some jails. 0, or 1 with an error on stderr.
int print_timing();

}  // namespace rookery::cli

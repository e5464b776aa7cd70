// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rookery::cli {

// What `rookery run` was asked for.
struct RunOptions {
  bool bash = false;                // --tool bash; else Python
  std::optional<std::string> code;  // -c CODE
  std::string program;              // FILE, or "-" for stdin; empty with -c
  std::vector<std::string> files;   // --file IN, each
  std::string out;                  // --out DIR; empty: nothing is brought out
  std::string image;                // --image NAME
  std::uint32_t timeout_s = 0;      // --timeout; 0: SANDBOX_DEFAULT_TIMEOUT
};

// `arguments` without the flags of settings. Throws std::invalid_argument for wrong usage.
RunOptions parse_run_options(const std::vector<std::string>& arguments);

}  // namespace rookery::cli

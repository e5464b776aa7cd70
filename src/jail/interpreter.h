// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rookery::jail {

struct Interpreter {
  std::string path;                      // as seen inside the image
  std::vector<std::string> prefixes;     // directories it needs to see (its own, and a virtual environment's base)
  std::vector<std::string> environment;  // what every program of a jail starts with, built from nothing
};

// Finds the Python to use below `source` ("" is the host's root): `wanted` when given, else python3 from the usual
// places. Throws std::runtime_error that says what to install.
Interpreter find_interpreter(const std::string& source, const std::string& wanted);

}  // namespace rookery::jail

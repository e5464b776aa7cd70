// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rookery::jail {

struct Interpreter {
  std::string path;                      // as seen inside the image
  std::vector<std::string> prefixes;     // directories of the host that it needs to see; none with a source
  std::vector<std::string> environment;  // what every program of a jail starts with, built from nothing
};

// Finds the Python to use. With `source` "", the host's: `wanted` when given, else python3 from the usual places. Else
// python3 from the usual places of the root file system `source`, which has to have bash too. Throws std::runtime_error that says what to install.
Interpreter find_interpreter(const std::string& source, const std::string& wanted);

}  // namespace rookery::jail

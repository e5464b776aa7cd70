// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "util/settings.h"

namespace rookery::cli {

// `rookery check`: a table of what is needed and what this machine has. Returns the exit status.
int check(const util::Settings& settings, bool timing);

// The same rows, and versions, as util/findings.h writes them.
std::string findings(const util::Settings& settings);

}  // namespace rookery::cli

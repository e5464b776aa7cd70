// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cli/configuration.h"
#include "cli/run_options.h"

namespace rookery::cli {

// What `rookery run` itself ends with when it could not run the program.
constexpr int kRunFailed = 125;

// `rookery run`: one program in one jail, without a server. Returns the exit status (see kRunHelp). Throws
// std::exception, nothing having been run, with a sentence that says what to do.
int run(Configuration configuration, const RunOptions& options);

}  // namespace rookery::cli

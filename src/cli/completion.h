// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rookery::cli {

// A script that completes commands, their options, the flags of settings and the words that these take, for bash.
std::string bash_completion();

}  // namespace rookery::cli

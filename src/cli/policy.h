// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rookery::cli {

// `rookery policy`: prints the seccomp policy of a role, a session's when none is named. `options`: what kPolicyHelp names.
// Returns the exit status. Throws std::invalid_argument for more than one role, std::runtime_error for a policy that cannot be compiled.
int policy(const std::vector<std::string>& options);

}  // namespace rookery::cli

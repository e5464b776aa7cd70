// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/settings.h"

namespace rookery::warden {

// `rookery serve`, from root to no root: binds the address, takes the lock on the sessions root, clears what an earlier
// crash left, makes and delegates a cgroup subtree below rookery's own cgroup, chooses the ids of the user namespace Z,
// starts the warden in it, and becomes the supervisor (supervise.h). Returns the exit status.
// Throws std::exception with a sentence that says what is missing and how to get it.
int launch(const util::Settings& settings);

}  // namespace rookery::warden

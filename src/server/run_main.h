// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/settings.h"

namespace rookery::server {

// The runner: what `rookery run` has in the place of the server. It has the server's rights and speaks to the warden as
// the server does, so that a program is run by the same code in the same jail; instead of HTTP it has one channel to the
// command (wire/message.h, kRun...), and what the program prints goes to its own stdout and stderr as it comes.
// Returns the exit status, 0 once the outcome is told.
int run_main(const util::Settings& settings);

}  // namespace rookery::server

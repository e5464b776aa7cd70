// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/settings.h"

namespace rookery::warden {

// The warden's whole life, from the exec by launch() on: builds the image trees, starts the server, leaves for a root of
// its own, serves the server's requests, and on SIGTERM lets the server finish and ends everything.
// Returns the exit status. Throws when something is missing at the start.
int warden_main(const util::Settings& settings);

}  // namespace rookery::warden

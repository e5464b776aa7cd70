// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/settings.h"

namespace rookery::server {

// The server's whole life, from the exec by the warden on (wire/children.h): gives up what it does not need, waits for
// the warden's start signal, serves until SIGTERM (SIGUSR1: leases no new sessions), lets running calls finish, ends all sessions.
// Returns the exit status.
int server_main(util::Settings settings);

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/unique_fd.h"
#include "util/settings.h"

namespace rookery::warden {

// A listening, non-blocking TCP or unix socket where `settings` say. The first address of a name that works is taken;
// port 0 becomes the one that was found. A unix socket gets its mode as it is made, and takes the place of one that
// nobody listens on any more. Throws std::runtime_error or std::system_error that says what and what to do.
sys::UniqueFd listen_on(util::Settings& settings);

// Whether only this machine can reach it: loopback, or a unix socket.
bool is_local(int socket);

}  // namespace rookery::warden

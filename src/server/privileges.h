// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "util/settings.h"

namespace rookery::server {

// From what the warden started (wire/children.h) to the server's own rights: an empty root, an id of its own, three
// capabilities in Z, the filter policy/seccomp/server.json. Throws where a step fails or does not hold.
void give_up_privileges(const util::Settings& settings);

// Waits for the warden's word that the first jail works. Throws std::runtime_error when the warden ends instead.
void wait_for_start(int warden_channel);

}  // namespace rookery::server

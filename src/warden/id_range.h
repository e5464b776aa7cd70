// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

namespace rookery::warden {

// A range of host uids (and the same gids) for the user namespace Z: [first, first + count).
struct IdRange {
  uid_t first = 0;
  std::uint32_t count = 0;
};

// The least that the largest run of ids of a user namespace must have: rookery takes a part of it.
constexpr std::uint32_t kLeastRun = 10192;

// Chooses one that no process, no account and no other rookery uses. `seed` (the sessions root) makes the choice the
// same at the next start. Throws std::runtime_error when the caller's own user namespace has too few ids, with what to do.
IdRange choose_id_range(const std::string& seed);

}  // namespace rookery::warden

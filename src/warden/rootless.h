// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>

namespace rookery::warden {

// A range of ids that an ordinary user may use: [first, first + count).
struct SubordinateIds {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

// The largest range that subuid(5) or subgid(5) text grants to the user, by name or by number.
std::optional<SubordinateIds> subordinate_ids(const std::string& text, const std::string& name, uid_t uid);

// What an ordinary user gets. `why_not` is empty, or says why there is no range of ids and how to get one.
struct Ranges {
  std::optional<SubordinateIds> uids, gids;
  std::string why_not;

  [[nodiscard]] bool complete() const noexcept { return why_not.empty(); }
};

// From /etc/subuid, /etc/subgid and the presence of newuidmap(1) and newgidmap(1), for the calling user.
Ranges find_ranges();

// Makes the calling process, of an ordinary user, root of a user namespace of its own: its own id is 0 in there and, where
// there are ranges, 1 and up are those. From there the start is the same as root's. It must be single-threaded.
// Throws std::runtime_error that says what to do.
void become_root_of_own_namespace(const Ranges& ranges);

}  // namespace rookery::warden

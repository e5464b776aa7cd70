// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "util/settings.h"

// What one rookery process finds when another exec's it: descriptors at fixed places, and its role as argv[0] (which is
// also what ps shows).
namespace rookery::warden {

constexpr const char* kWardenTitle = "rookery: warden";
constexpr const char* kServerTitle = "rookery: server";
constexpr const char* kExporterTitle = "rookery: exporter";
constexpr const char* kRunnerTitle = "rookery: runner";  // in the server's place for `rookery run`

// The warden's descriptors.
constexpr int kListenSocket = 3;
constexpr int kSessionsRoot = 4;   // the directory, with the lock on it
constexpr int kProgram = 5;        // rookery's own executable
constexpr int kSupervisor = 6;     // the server's channel to the supervisor (wire/supervisor_messages.h)
constexpr int kFirstCgroup = 7;    // rookery's cgroup, one directory a hierarchy

// "v2", "v1 N" (N hierarchies) or "none": how to read the cgroup descriptors.
constexpr const char* kCgroupVariable = "ROOKERY_CGROUP";

// The title of the process that the warden serves: the server, unless it says something else.
constexpr const char* kServedVariable = "ROOKERY_SERVED";

// Ids in the warden's user namespace Z; those of the server and the exporter are below it (wire/children.h).
constexpr uid_t kFirstSessionUid = 1000;

// Of the session in this slot. Where Z has but one id it is everybody's.
constexpr uid_t session_uid(const util::Settings& settings, std::uint32_t slot) { return settings.weaker.shared_uid ? 0 : kFirstSessionUid + slot; }

// How many jails there may be at once: leased, ready ahead of demand for each image, and ending.
inline std::uint32_t slot_count(const util::Settings& settings) {
  return settings.max_sessions + 2 * settings.pool_size * static_cast<std::uint32_t>(1 + settings.images.size()) + 16;
}

}  // namespace rookery::warden

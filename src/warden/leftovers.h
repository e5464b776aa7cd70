// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "sys/cgroup.h"

namespace rookery::warden {

// The name of rookery's cgroup for this sessions root. Whoever holds the lock on the root owns that name.
std::string cgroup_name(const std::string& sessions_root);

// What an earlier run that crashed left below this process's own cgroup: ends its processes, removes its cgroups.
void remove_left_cgroups(const sys::CgroupLayout& layout, const std::string& name);

// The same for a run that was started in another cgroup: it left a list of its own in the sessions root. Writes the list
// of this run.
void remove_recorded_cgroups(int sessions_root, const sys::CgroupLayout& layout, const std::string& name);
// Takes the list away, at a clean end.
void forget_recorded_cgroups(int sessions_root) noexcept;

// And its session directories.
void remove_left_sessions(int sessions_root);

// Removes `name` below `directory` with everything in it: any depth, any names, no link followed. Throws
// std::system_error.
void remove_tree(int directory, const std::string& name);

}  // namespace rookery::warden

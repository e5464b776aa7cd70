// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "sys/unique_fd.h"

namespace rookery::sys {

struct CgroupHierarchy {
  std::string type;                      // "cgroup2", or "cgroup" for v1
  std::vector<std::string> controllers;  // of a v1 hierarchy, all of them; empty on v2
};

// The process's own cgroup in each hierarchy as a directory of a new, writable mount that is attached nowhere. For containers,
// which see theirs read-only. No capability is needed: a child mounts them in a user and a cgroup namespace of its own, whose
// root is this process's cgroup (cgroup_namespaces(7)), so nothing above can be reached. Who may write what is up to the
// directories' owners, as ever. The caller must be single-threaded. Throws std::system_error.
std::vector<UniqueFd> mount_own_cgroups(const std::vector<CgroupHierarchy>& hierarchies);

}  // namespace rookery::sys

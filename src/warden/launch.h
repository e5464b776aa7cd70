// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/capability.h>

#include <functional>

#include "sys/unique_fd.h"
#include "util/settings.h"

namespace rookery::warden {

// What the start takes beside uid 0, each given up before anything is served:
inline constexpr cap_value_t kStartCapabilities[] = {
    CAP_CHOWN,             // hand the sessions root and the cgroups to Z's root
    CAP_SETUID, CAP_SETGID,  // map Z's ids, and become one of them
    CAP_SETPCAP,           // empty the bounding set and lock the securebits
};

// `rookery serve`, from root to no root (an ordinary user first becomes root of a user namespace, rootless.h): binds the
// address, takes the lock on the sessions root, clears what an earlier
// crash left, makes and delegates a cgroup subtree below rookery's own cgroup, chooses the ids of the user namespace Z,
// starts the warden in it, and becomes the supervisor (supervise.h). Returns the exit status.
// Throws std::exception with a sentence that says what is missing and how to get it.
int launch(util::Settings settings);

// What `rookery run` has in the place of the server and its listening socket.
struct Run {
  sys::UniqueFd runner;   // the runner's end of a channel to the command
  sys::UniqueFd command;  // the command's end
  // The command's part, in a process of its own; gets the command's end. Its result is the exit status.
  std::function<int(int command)> collect;
};

// `rookery run`: as launch(), with the same warden and jails. Returns what `collect` returned.
int launch_run(util::Settings settings, Run run);

}  // namespace rookery::warden

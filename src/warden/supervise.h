// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "sys/unique_fd.h"
#include "warden/delegation.h"

namespace rookery::warden {

struct Supervised {
  pid_t warden = -1;
  pid_t token_reader = -1;   // -1: none
  pid_t collector = -1;      // -1: none; else its exit status is the result
  sys::UniqueFd server;      // the channel of wire/supervisor_messages.h
  sys::UniqueFd notify;      // systemd's socket; empty: nobody wants to know
  uid_t uid = 0;  // of Z's root: what the supervisor becomes, so that it may signal the warden and the token reader
  std::vector<sys::UniqueFd> cgroup_parents;  // the directories that hold rookery's cgroup
  WayBack way_back;
  std::string cgroup_name;
  std::uint32_t slots = 0;  // sessions' cgroups are named s-0 … s-(slots - 1)
};

// The rest of `rookery serve`'s life. Gives up every capability and all ids but one: its fsuid stays 0, because only
// root may remove a directory from the cgroup that rookery was started in. Its seccomp filter leaves it nothing to use
// that for but removing empty directories by descriptor. Passes SIGTERM, SIGINT and SIGUSR1 on to the warden, reaps
// (it may be pid 1 of a container), and when the warden has ended removes rookery's cgroup.
// With a socket of systemd it tells there when the server is ready and when it stops (sd_notify(3)).
// Returns the warden's exit status, or 128 + signal; for `rookery run` the collector's.
int supervise(Supervised supervised);

}  // namespace rookery::warden

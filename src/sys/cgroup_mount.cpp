// SPDX-License-Identifier: Apache-2.0
#include "sys/cgroup_mount.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <system_error>

#include "sys/clone.h"
#include "sys/error.h"
#include "sys/socket.h"

namespace rookery::sys {

namespace {

// In the child. Mounted nowhere: fsmount(2) gives a descriptor.
UniqueFd mount_hierarchy(const CgroupHierarchy& hierarchy) {
  const UniqueFd config(check(::fsopen(hierarchy.type.c_str(), FSOPEN_CLOEXEC), "fsopen " + hierarchy.type));
  for (const std::string& controller : hierarchy.controllers) {
    check(::fsconfig(config.get(), FSCONFIG_SET_FLAG, controller.c_str(), nullptr, 0), "choose the cgroup controller " + controller);
  }
  check(::fsconfig(config.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), "find the hierarchy of " + hierarchy.type);
  return UniqueFd(check(::fsmount(config.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC), "mount " + hierarchy.type));
}

// One packet a hierarchy: its descriptor, or the errno without one.
[[noreturn]] void mount_in_child(int parent, const std::vector<CgroupHierarchy>& hierarchies) noexcept {
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    int error = 0;
    UniqueFd mounted;
    try {
      mounted = mount_hierarchy(hierarchy);
    } catch (const std::system_error& failed) {
      error = failed.code().value();
    } catch (const std::exception&) {
      error = ENOMEM;
    }
    const int descriptor = mounted.get();
    const std::span<const int> descriptors(&descriptor, error == 0 ? 1 : 0);
    if (!send_packet(parent, std::as_bytes(std::span(&error, 1)), descriptors) || error != 0) break;
  }
  ::_exit(0);
}

}  // namespace

std::vector<UniqueFd> mount_own_cgroups(const std::vector<CgroupHierarchy>& hierarchies) {
  auto [here, there] = seqpacket_pair();
  const Cloned child = clone_process(CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWCGROUP);
  if (child.pid == 0) mount_in_child(there.get(), hierarchies);
  there.reset();
  reap(child.pidfd.get());
  std::vector<UniqueFd> directories;
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    int error = EIO;  // where the child sent nothing
    const Received received = receive_packet(here.get(), std::as_writable_bytes(std::span(&error, 1)), 1);
    if (received.descriptors.empty()) {
      errno = error;
      throw_errno("mount " + hierarchy.type + " writable");
    }
    directories.emplace_back(check(::openat(received.descriptors.front().get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the own cgroup"));
  }
  return directories;
}

}  // namespace rookery::sys

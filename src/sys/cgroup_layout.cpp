// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <system_error>
#include <vector>

#include "sys/cgroup.h"
#include "sys/cgroup_mount.h"
#include "sys/file.h"
#include "util/container_advice.h"

namespace rookery::sys {

namespace {

struct CgroupMount {
  std::string root;   // the part of the hierarchy that is mounted
  std::string point;  // where
  std::string type;   // cgroup or cgroup2
  std::string options;
};

// proc(5), mountinfo: id parent major:minor root point options [fields...] - type source super-options
std::vector<CgroupMount> cgroup_mounts() {
  std::vector<CgroupMount> mounts;
  std::istringstream lines(read_file("/proc/self/mountinfo"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream fields(line);
    CgroupMount mount;
    std::string skip;
    fields >> skip >> skip >> skip >> mount.root >> mount.point;
    while (fields >> skip && skip != "-") {
    }
    fields >> mount.type >> skip >> mount.options;
    if (mount.type == "cgroup" || mount.type == "cgroup2") mounts.push_back(mount);
  }
  return mounts;
}

std::vector<std::string> words(const std::string& list, char separator) {
  std::vector<std::string> found;
  std::istringstream stream(list);
  for (std::string entry; std::getline(stream, entry, separator);) found.push_back(entry);
  return found;
}

bool has_word(const std::string& list, const std::string& word, char separator) {
  const std::vector<std::string> found = words(list, separator);
  return std::find(found.begin(), found.end(), word) != found.end();
}

struct OwnCgroup {
  std::string controllers;  // of the hierarchy, comma-separated; "" for v2
  std::string path;
};

// The process's cgroup in the hierarchy with this controller ("" for v2); proc(5), /proc/pid/cgroup.
OwnCgroup own_cgroup(const std::string& controller) {
  std::istringstream lines(read_file("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string list = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? list.empty() : has_word(list, controller, ',')) return {list, line.substr(second + 1)};
  }
  return {};
}

bool read_only(const std::string& directory) {
  struct statvfs info{};
  return ::statvfs(directory.c_str(), &info) == 0 && (info.f_flag & ST_RDONLY) != 0;
}

// In a container without a cgroup namespace the mount shows only a part of the hierarchy: drop that prefix.
std::string directory_of(const CgroupMount& mount, const std::string& path) {
  std::string below = path;
  if (mount.root != "/" && below.compare(0, mount.root.size(), mount.root) == 0) below.erase(0, mount.root.size());
  return mount.point + (below == "/" ? "" : below);
}

struct Found {
  bool unified = false;
  std::vector<std::string> directories;
  std::vector<CgroupHierarchy> hierarchies;
};

Found find_hierarchies() {
  const std::vector<CgroupMount> mounts = cgroup_mounts();
  const std::vector<std::string> needed = {"memory", "pids", "cpu"};
  const bool any_v1 = std::any_of(mounts.begin(), mounts.end(), [](const CgroupMount& mount) { return mount.type == "cgroup"; });
  for (const CgroupMount& mount : mounts) {
    if (mount.type != "cgroup2") continue;
    const std::string own = directory_of(mount, own_cgroup("").path);
    std::string offered;
    try {
      offered = read_file(own + "/cgroup.controllers");
    } catch (const std::exception&) {
      continue;
    }
    if (!offered.empty() && offered.back() == '\n') offered.pop_back();
    std::string missing;
    for (const std::string& controller : needed) {
      if (!has_word(offered, controller, ' ')) missing += " " + controller;
    }
    if (!missing.empty()) {
      // Beside v1 hierarchies, which have them then, v2 is empty.
      if (any_v1) continue;
      throw std::runtime_error("the cgroup " + own + " is not given the controllers" + missing +
                               ": start rookery in one that is, e.g. `systemd-run --scope -p Delegate=yes` (with --user as an "
                               "ordinary user)");
    }
    return {true, {own}, {{"cgroup2", {}}}};
  }
  Found found;
  for (const std::string controller : {"memory", "pids", "cpu", "cpuacct"}) {
    const OwnCgroup own = own_cgroup(controller);
    std::string directory;
    for (const CgroupMount& mount : mounts) {
      if (mount.type == "cgroup" && has_word(mount.options, controller, ',')) directory = directory_of(mount, own.path);
    }
    if (directory.empty()) {
      throw std::runtime_error("no cgroup controller \"" + controller +
                               "\": mount cgroup2 (or a v1 hierarchy with it) at /sys/fs/cgroup" + util::container_advice());
    }
    // Several controllers may share a hierarchy.
    if (std::find(found.directories.begin(), found.directories.end(), directory) != found.directories.end()) continue;
    found.directories.push_back(directory);
    found.hierarchies.push_back({"cgroup", words(own.controllers, ',')});
  }
  return found;
}

}  // namespace

CgroupLayout CgroupLayout::discover() {
  const Found found = find_hierarchies();
  CgroupLayout layout;
  layout.unified_ = found.unified;
  layout.directories_ = found.directories;
  if (std::none_of(found.directories.begin(), found.directories.end(), read_only)) return layout;
  try {
    layout.mounted_ = mount_own_cgroups(found.hierarchies);
  } catch (const std::system_error& error) {
    throw std::runtime_error(found.directories.front() + " is read-only, and cannot be mounted writable: " + error.what() + util::container_advice());
  }
  layout.directories_.clear();
  if (::faccessat(layout.mounted_.front().get(), "cgroup.procs", W_OK, AT_EACCESS) != 0) {
    throw std::runtime_error("the container's cgroup belongs to another user: " + found.directories.front());
  }
  for (const UniqueFd& directory : layout.mounted_) layout.directories_.push_back("/proc/self/fd/" + std::to_string(directory.get()) + "/.");  // not the link itself
  return layout;
}

}  // namespace rookery::sys

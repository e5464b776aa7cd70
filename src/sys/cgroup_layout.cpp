// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "sys/cgroup.h"
#include "sys/file.h"

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

bool has_word(const std::string& list, const std::string& word, char separator) {
  std::istringstream words(list);
  for (std::string entry; std::getline(words, entry, separator);) {
    if (entry == word) return true;
  }
  return false;
}

// The process's path in the hierarchy with this controller list ("" for v2); proc(5), /proc/pid/cgroup.
std::string own_path(const std::string& controller) {
  std::istringstream lines(read_file("/proc/self/cgroup"));
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string list = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? list.empty() : has_word(list, controller, ',')) return line.substr(second + 1);
  }
  return "";
}

// In a container without a cgroup namespace the mount shows only a part of the hierarchy: drop that prefix.
std::string directory_of(const CgroupMount& mount, const std::string& path) {
  std::string below = path;
  if (mount.root != "/" && below.compare(0, mount.root.size(), mount.root) == 0) below.erase(0, mount.root.size());
  return mount.point + (below == "/" ? "" : below);
}

}  // namespace

CgroupLayout CgroupLayout::discover() {
  const std::vector<CgroupMount> mounts = cgroup_mounts();
  const std::vector<std::string> needed = {"memory", "pids", "cpu"};
  const bool any_v1 = std::any_of(mounts.begin(), mounts.end(), [](const CgroupMount& mount) { return mount.type == "cgroup"; });
  CgroupLayout layout;
  for (const CgroupMount& mount : mounts) {
    if (mount.type != "cgroup2") continue;
    const std::string own = directory_of(mount, own_path(""));
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
    layout.unified_ = true;
    layout.directories_ = {own};
    return layout;
  }
  for (const std::string controller : {"memory", "pids", "cpu", "cpuacct"}) {
    std::string directory;
    for (const CgroupMount& mount : mounts) {
      if (mount.type == "cgroup" && has_word(mount.options, controller, ',')) {
        directory = directory_of(mount, own_path(controller));
      }
    }
    if (directory.empty()) {
      throw std::runtime_error("no cgroup controller \"" + controller +
                               "\": mount cgroup2 (or a v1 hierarchy with it) at /sys/fs/cgroup; in Docker run with "
                               "--privileged, or with a writable cgroup mount (see README, \"In a container\")");
    }
    // Several controllers may share a hierarchy.
    if (std::find(layout.directories_.begin(), layout.directories_.end(), directory) == layout.directories_.end()) {
      layout.directories_.push_back(directory);
    }
  }
  return layout;
}

}  // namespace rookery::sys

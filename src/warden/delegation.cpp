// SPDX-License-Identifier: Apache-2.0
#include "warden/delegation.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <stdexcept>
#include <system_error>

#include "sys/error.h"
#include "sys/file.h"
#include "warden/leftovers.h"

namespace rookery::warden {

namespace {

constexpr const char* kControllers[] = {"memory", "pids", "cpu"};

void write_some(const sys::UniqueFd& file, std::string_view text) noexcept {
  // A failure shows in what comes next: the directory cannot be removed.
  if (!file || text.empty()) return;
  [[maybe_unused]] const ssize_t written = ::write(file.get(), text.data(), text.size());
}

sys::UniqueFd open_for_writing(const std::string& path) {
  return sys::UniqueFd(sys::check(::open(path.c_str(), O_WRONLY | O_CLOEXEC), "open " + path));
}

}  // namespace

void WayBack::leave() const noexcept {
  write_some(group_control, "-memory -pids -cpu");
  write_some(parent_control, parent_off);
  write_some(parent_procs, "0");
}

Delegation::Delegation(const std::string& sessions_root, int sessions_root_fd, uid_t uid)
    : layout_(sys::CgroupLayout::discover()), name_(cgroup_name(sessions_root)) {
  remove_left_cgroups(layout_, name_);
  remove_recorded_cgroups(sessions_root_fd, layout_, name_);
  try {
    make(uid);
  } catch (...) {
    undo();
    throw;
  }
}

Delegation::~Delegation() {
  if (!kept_) undo();
}

WayBack Delegation::keep() noexcept {
  kept_ = true;
  return std::move(way_back_);
}

void Delegation::make(uid_t uid) {
  group_ = sys::Cgroup::create_below_own(layout_, name_);
  self_ = group_.create("self");
  if (layout_.unified()) {
    const std::string& own = layout_.own_directories().front();
    way_back_.group_control = open_for_writing(own + "/" + name_ + "/cgroup.subtree_control");
    way_back_.parent_control = open_for_writing(own + "/cgroup.subtree_control");
    way_back_.parent_procs = open_for_writing(own + "/cgroup.procs");
    self_.add(::getpid());
    enable_in_parent();
    group_.enable_controllers();
  }
  group_.delegate(uid, uid);
}

void Delegation::enable_in_parent() {
  const std::string control = layout_.own_directories().front() + "/cgroup.subtree_control";
  const std::string before = " " + sys::read_file(control) + " ";
  std::string on;
  for (const std::string controller : kControllers) {
    if (before.find(" " + controller + " ") != std::string::npos || before.find(" " + controller + "\n") != std::string::npos) continue;
    on += "+" + controller + " ";
    way_back_.parent_off += "-" + controller + " ";
  }
  if (on.empty()) return;
  try {
    sys::write_file(control, on);
  } catch (const std::system_error& error) {
    way_back_.parent_off.clear();
    throw std::runtime_error("cannot enable the memory, pids and cpu controllers in " + control + " (" + error.code().message() +
                             "): start rookery as the only process of its cgroup, e.g. `systemd-run --scope -p Delegate=yes`, or "
                             "as a container's main process with a writable cgroup mount");
  }
}

void Delegation::undo() noexcept {
  way_back_.leave();
  try {
    // It ends what is in there, which must not be this process.
    const std::vector<pid_t> left = self_.processes();
    if (layout_.unified() && std::find(left.begin(), left.end(), ::getpid()) != left.end()) {
      throw std::runtime_error("cannot leave the cgroup " + name_ + ": remove it by hand when this process has ended");
    }
    remove_left_cgroups(layout_, name_);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
  }
}

}  // namespace rookery::warden

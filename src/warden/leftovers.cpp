// SPDX-License-Identifier: Apache-2.0
#include "warden/leftovers.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <functional>
#include <memory>
#include <sstream>
#include <vector>

#include "sys/error.h"
#include "sys/file.h"
#include "sys/unique_fd.h"

namespace rookery::warden {

namespace {

std::vector<std::string> names_in(int directory) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> stream(
      ::fdopendir(sys::check(::openat(directory, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open a directory")), &::closedir);
  if (!stream) sys::throw_errno("read a directory");
  while (const dirent* entry = ::readdir(stream.get())) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0) names.emplace_back(entry->d_name);
  }
  return names;
}

void end_processes_below(const std::filesystem::path& group) {
  std::vector<sys::UniqueFd> directory;
  directory.emplace_back(::open(group.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory.front()) return;
  const bool unified = ::faccessat(directory.front().get(), "cgroup.kill", F_OK, 0) == 0;
  sys::Cgroup::from_descriptors(unified, std::move(directory)).kill();
}

}  // namespace

std::string cgroup_name(const std::string& sessions_root) {
  char name[32];
  std::snprintf(name, sizeof name, "rookery-%016zx", std::hash<std::string>{}(sessions_root));
  return name;
}

namespace {

constexpr const char* kRecord = ".rookery-cgroups";

namespace fs = std::filesystem;

void remove_group(const fs::path& group) {
  for (int attempt = 0; attempt < 300; ++attempt) {
    std::error_code failed;
    if (!fs::exists(group, failed)) break;
    for (const auto& child : fs::directory_iterator(group, failed)) {
      if (!child.is_directory()) continue;
      end_processes_below(child.path());
      ::rmdir(child.path().c_str());
    }
    end_processes_below(group);
    if (::rmdir(group.c_str()) == 0) break;
    const timespec wait{0, 10'000'000};
    ::nanosleep(&wait, nullptr);
  }
}

}  // namespace

void remove_left_cgroups(const sys::CgroupLayout& layout, const std::string& name) {
  for (const std::string& own : layout.own_directories()) remove_group(fs::path(own) / name);
}

void remove_recorded_cgroups(int sessions_root, const sys::CgroupLayout& layout, const std::string& name) {
  if (const sys::UniqueFd record(::openat(sessions_root, kRecord, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)); record) {
    std::istringstream lines(sys::read_all(record.get()));
    for (std::string line; std::getline(lines, line);) {
      // Only what bears this sessions root's name, whose lock the caller holds.
      if (line.starts_with("/sys/fs/cgroup") && fs::path(line).filename() == name) remove_group(line);
    }
  }
  std::string list;
  for (const std::string& own : layout.own_directories()) list += own + "/" + name + "\n";
  ::unlinkat(sessions_root, kRecord, 0);
  const sys::UniqueFd record(sys::check(::openat(sessions_root, kRecord, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600), "record the cgroups in the sessions root"));
  if (::write(record.get(), list.data(), list.size()) != static_cast<ssize_t>(list.size())) sys::throw_errno("record the cgroups");
}

void forget_recorded_cgroups(int sessions_root) noexcept { ::unlinkat(sessions_root, kRecord, 0); }

void remove_left_sessions(int sessions_root) {
  for (const std::string& name : names_in(sessions_root)) {
    if (name.starts_with("sbx_")) remove_tree(sessions_root, name);
  }
}

namespace {

// For a start by root that has no right to pass by another user's, or a session's closed, directories.
bool take(int directory, const std::string& name) noexcept {
  return ::fchownat(directory, name.c_str(), ::geteuid(), ::getegid(), AT_SYMLINK_NOFOLLOW) == 0 && ::fchmodat(directory, name.c_str(), 0700, 0) == 0;
}

// Empty with errno set.
sys::UniqueFd open_for_removal(int directory, const std::string& name) {
  const auto open = [&] { return sys::UniqueFd(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)); };
  sys::UniqueFd opened = open();
  if (opened ? ::fchmod(opened.get(), 0700) == 0 : errno != EACCES) return opened;
  return take(directory, name) ? open() : sys::UniqueFd();
}

// A directory can be moved by those who may write to it.
bool move_up(int from, const std::string& name, int to, const std::string& new_name) noexcept {
  const auto move = [&] { return ::renameat(from, name.c_str(), to, new_name.c_str()) == 0; };
  return move() || (errno == EACCES && take(from, name) && move());
}

}  // namespace

void remove_tree(int directory, const std::string& name) {
  // A hostile tree may be deeper than there are descriptors or stack: every directory that is found is first moved up
  // to `directory` under a name of its own, so that nothing is ever more than one level down.
  std::vector<std::string> pending = {name};
  unsigned counter = 0;
  while (!pending.empty()) {
    const std::string current = pending.back();
    const sys::UniqueFd opened = open_for_removal(directory, current);
    if (!opened) {
      if (errno != ENOENT && ::unlinkat(directory, current.c_str(), 0) != 0) sys::throw_errno("remove " + current);
      pending.pop_back();
      continue;
    }
    bool moved = false;
    for (const std::string& entry : names_in(opened.get())) {
      if (::unlinkat(opened.get(), entry.c_str(), 0) == 0) continue;
      if (errno != EISDIR && errno != EPERM) sys::throw_errno("remove a file of " + name);
      const std::string up = name + ".removing." + std::to_string(counter++);
      if (::unlinkat(opened.get(), entry.c_str(), AT_REMOVEDIR) == 0) continue;
      if (!move_up(opened.get(), entry, directory, up)) sys::throw_errno("move a directory of " + name);
      pending.push_back(up);
      moved = true;
    }
    if (moved) continue;
    sys::check(::unlinkat(directory, current.c_str(), AT_REMOVEDIR), "remove " + current);
    pending.pop_back();  // it is the last one: what it held was pushed behind it, and is gone
  }
}

}  // namespace rookery::warden

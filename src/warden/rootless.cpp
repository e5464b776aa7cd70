// SPDX-License-Identifier: Apache-2.0
#include "warden/rootless.h"

#include <pwd.h>
#include <sched.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"
#include "util/container_advice.h"
#include "warden/id_range.h"

namespace rookery::warden {

namespace {

constexpr const char* kNewUidMap = "/usr/bin/newuidmap";
constexpr const char* kNewGidMap = "/usr/bin/newgidmap";

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

bool number(std::string_view text, std::uint64_t& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end == text.data() + text.size();
}

// 0, or what went wrong as an exit status.
int run(const char* program, std::vector<std::string> arguments) noexcept {
  std::vector<char*> pointers;
  for (std::string& argument : arguments) pointers.push_back(argument.data());
  pointers.push_back(nullptr);
  pid_t child = -1;
  if (::posix_spawn(&child, program, nullptr, nullptr, pointers.data(), environ) != 0) return 127;
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int map_with(const char* program, pid_t process, std::uint64_t own, const SubordinateIds& ids) {
  return run(program, {program, std::to_string(process), "0", std::to_string(own), "1", "1", std::to_string(ids.first), std::to_string(ids.count)});
}

// The two programs have to run outside of the new namespace, so a child that stays there runs them. It answers by its
// exit status, and ends without a word when the other end of `go` is closed.
pid_t fork_mapper(const Ranges& ranges, int go, int other_end) {
  const pid_t process = ::getpid();
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  const pid_t child = sys::check(::fork(), "fork");
  if (child != 0) return child;
  ::close(other_end);
  char byte = 0;
  if (::read(go, &byte, 1) != 1) ::_exit(1);
  const bool mapped = map_with(kNewUidMap, process, uid, *ranges.uids) == 0 && map_with(kNewGidMap, process, gid, *ranges.gids) == 0;
  ::_exit(mapped ? 0 : 1);
}

void make_namespace() {
  if (::unshare(CLONE_NEWUSER) == 0) return;
  throw std::runtime_error(std::string("an ordinary user cannot make a user namespace here: ") + std::strerror(errno) +
                           " (see /proc/sys/user/max_user_namespaces, on Debian /proc/sys/kernel/unprivileged_userns_clone; or start rookery as root)" +
                           util::restriction_advice());
}

// A security module may let the namespace be made and refuse what it is made for.
void require_rights() {
  const pid_t child = sys::check(::fork(), "fork");
  if (child == 0) ::_exit(::unshare(CLONE_NEWNS) == 0 ? 0 : errno);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return;
  throw std::runtime_error(std::string("an ordinary user gets no rights in the user namespace that he makes here: ") + std::strerror(WEXITSTATUS(status)) +
                           util::restriction_advice());
}

void map_ranges(const Ranges& ranges) {
  auto [here, there] = sys::seqpacket_pair();
  const pid_t mapper = fork_mapper(ranges, there.get(), here.get());
  make_namespace();
  const char go = 'g';
  if (::write(here.get(), &go, 1) != 1) sys::throw_errno("start newuidmap");
  int status = 0;
  while (::waitpid(mapper, &status, 0) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
  throw std::runtime_error("newuidmap or newgidmap refused (its words are above): see /etc/subuid and /etc/subgid, and that both programs "
                           "may do their work (set-uid, or file capabilities)");
}

void map_own_id() {
  const uid_t uid = ::geteuid();
  const gid_t gid = ::getegid();
  make_namespace();
  // user_namespaces(7): only then may an ordinary user write a gid_map.
  sys::write_file("/proc/self/setgroups", "deny");
  sys::write_file("/proc/self/uid_map", "0 " + std::to_string(uid) + " 1\n");
  sys::write_file("/proc/self/gid_map", "0 " + std::to_string(gid) + " 1\n");
}

}  // namespace

std::optional<SubordinateIds> subordinate_ids(const std::string& text, const std::string& name, uid_t uid) {
  std::optional<SubordinateIds> largest;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string owner = line.substr(0, first);
    if (owner != name && owner != std::to_string(uid)) continue;
    SubordinateIds ids;
    if (!number(std::string_view(line).substr(first + 1, second - first - 1), ids.first) || !number(std::string_view(line).substr(second + 1), ids.count)) continue;
    if (!largest || ids.count > largest->count) largest = ids;
  }
  return largest;
}

Ranges find_ranges() {
  const uid_t uid = ::geteuid();
  const passwd* account = ::getpwuid(uid);
  const std::string name = account != nullptr ? account->pw_name : std::to_string(uid);
  Ranges ranges;
  ranges.uids = subordinate_ids(text_of("/etc/subuid"), name, uid);
  ranges.gids = subordinate_ids(text_of("/etc/subgid"), name, uid);
  if (::access(kNewUidMap, X_OK) != 0 || ::access(kNewGidMap, X_OK) != 0) {
    ranges.why_not = "there is no newuidmap and newgidmap (apt-get install uidmap)";
  } else if (!ranges.uids || !ranges.gids || std::min(ranges.uids->count, ranges.gids->count) < kLeastRun) {
    ranges.why_not = "the user " + name + " has no range of " + std::to_string(kLeastRun) + " ids in /etc/subuid and /etc/subgid (as root: usermod --add-subuids 100000-165535 --add-subgids 100000-165535 " + name + ")";
  }
  return ranges;
}

void become_root_of_own_namespace(const Ranges& ranges) {
  if (ranges.complete()) {
    map_ranges(ranges);
  } else {
    map_own_id();
  }
  require_rights();
}

}  // namespace rookery::warden

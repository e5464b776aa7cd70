// SPDX-License-Identifier: Apache-2.0
#include "warden/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>

#include "log/log.h"
#include "sys/clone.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"
#include "sys/whole_proc.h"
#include "util/container_advice.h"
#include "warden/delegation.h"
#include "warden/handover.h"
#include "warden/id_range.h"
#include "warden/leftovers.h"
#include "warden/listen.h"
#include "warden/supervise.h"

namespace rookery::warden {

namespace {

// Held for the life of the warden: two servers on one sessions root would remove each other's sessions.
sys::UniqueFd lock_sessions_root(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  sys::UniqueFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) sys::throw_errno("open the sessions root " + path + " (set SANDBOX_SESSIONS_ROOT to a directory that root can make)");
  if (::flock(root.get(), LOCK_EX | LOCK_NB) != 0) {
    throw std::runtime_error("the sessions root " + path + " is in use by another rookery: stop it, or set SANDBOX_SESSIONS_ROOT");
  }
  return root;
}

void place(const std::vector<int>& fds) {
  std::vector<int> moved;
  for (const int fd : fds) moved.push_back(sys::check(::fcntl(fd, F_DUPFD_CLOEXEC, 64), "move a descriptor"));
  int to = kListenSocket;
  for (const int fd : moved) sys::check(::dup2(fd, to++), "dup2");
  sys::check(::close_range(static_cast<unsigned>(to), ~0u, 0), "close all other descriptors");
}

// The warden's process until it exec's: made in the user namespace Z, its memory still belongs to the host's, and only
// an exec gives it to Z. It is pid 1 of a PID namespace: when it ends, the kernel ends everything it started.
[[noreturn]] void become_warden(int to_parent, const std::vector<int>& fds) noexcept {
  try {
    char go = 0;
    if (::read(to_parent, &go, 1) != 1) ::_exit(70);
    sys::check(::setresgid(0, 0, 0), "setresgid");
    sys::check(::setgroups(0, nullptr), "setgroups");
    sys::check(::setresuid(0, 0, 0), "setresuid");
    place(fds);
    sys::check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "set the parent-death signal");
    char* arguments[] = {const_cast<char*>(kWardenTitle), nullptr};
    ::fexecve(kProgram, arguments, environ);
    sys::throw_errno("exec the warden");
  } catch (const std::exception& error) {
    ::dprintf(2, "rookery: %s\n", error.what());
  }
  ::_exit(1);
}

void map_ids(pid_t warden, const IdRange& ids) {
  const std::string map = "0 " + std::to_string(ids.first) + " " + std::to_string(ids.count) + "\n";
  const std::string process = "/proc/" + std::to_string(warden);
  sys::write_file(process + "/uid_map", map);
  sys::write_file(process + "/gid_map", map);
}

sys::Cloned clone_warden() {
  try {
    return sys::clone_process(CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS);
  } catch (const std::system_error& error) {
    throw std::runtime_error(std::string("cannot make a user namespace: ") + error.code().message() +
                             " (a process that was only chroot'ed cannot: start from a real root; see also "
                             "/proc/sys/user/max_user_namespaces)" + util::container_advice());
  }
}

// Starts the warden. What is opened here and not returned is the warden's alone.
Supervised start_warden(const util::Settings& settings, const IdRange& ids, const Delegation& delegation, sys::UniqueFd listener, int root) {
  const sys::UniqueFd program(sys::check(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "open /proc/self/exe"));
  const std::vector<int> groups = delegation.group().descriptors();
  ::setenv(kCgroupVariable, delegation.layout().unified() ? "v2" : ("v1 " + std::to_string(groups.size())).c_str(), 1);
  std::vector<int> fds = {listener.get(), root, program.get()};
  fds.insert(fds.end(), groups.begin(), groups.end());

  auto [here, there] = sys::seqpacket_pair();
  Supervised supervised;
  supervised.uid = ids.first;
  supervised.cgroup_name = delegation.name();
  supervised.slots = slot_count(settings);
  for (const std::string& own : delegation.layout().own_directories()) {
    supervised.cgroup_parents.emplace_back(sys::check(::open(own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + own));
  }
  const sys::Cloned warden = clone_warden();
  if (warden.pid == 0) {
    here.reset();
    become_warden(there.get(), fds);
  }
  supervised.warden = warden.pid;
  map_ids(supervised.warden, ids);
  if (!delegation.layout().unified()) delegation.self().add(supervised.warden);
  const char go = 'g';
  if (::write(here.get(), &go, 1) != 1) sys::throw_errno("start the warden");
  return supervised;
}

// Jails need to see a proc that nothing is masked of, and a container's is. With CAP_SYS_ADMIN it is mounted here.
void show_whole_proc() {
  const int error = sys::try_fresh_proc();
  if (error == 0) return;
  static constexpr cap_value_t kToMount[] = {CAP_SYS_ADMIN};
  if (!sys::lacking_capabilities(kToMount).empty()) {
    throw std::runtime_error(std::string("jails cannot be made here: in a user namespace, mounting a proc gives \"") + std::strerror(error) + "\"" + util::container_advice());
  }
  sys::unmask_proc();
}

}  // namespace

int launch(const util::Settings& settings) {
  if (::geteuid() != 0) {
    throw std::runtime_error("rookery serve has to be started as root: it makes a user namespace with many ids, then gives root up");
  }
  if (const std::string lacking = sys::lacking_capabilities(kStartCapabilities); !lacking.empty()) {
    throw std::runtime_error("the start needs the capabilities that are missing here: " + lacking + " (in a container: --cap-add; they are given up at once)");
  }
  show_whole_proc();
  sys::UniqueFd listener = listen_on(settings.listen_host, settings.listen_port);
  const sys::UniqueFd root = lock_sessions_root(settings.sessions_root);
  const IdRange ids = choose_id_range(settings.sessions_root);
  Supervised supervised;
  {
    Delegation delegation(settings.sessions_root, root.get(), ids.first);
    remove_left_sessions(root.get());
    sys::check(::fchmod(root.get(), 0700), "chmod the sessions root");
    sys::check(::fchown(root.get(), ids.first, ids.first), "chown the sessions root");
    supervised = start_warden(settings, ids, delegation, std::move(listener), root.get());
    supervised.way_back = delegation.keep();
  }
  log::start(settings, "supervisor");
  return supervise(std::move(supervised));
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#include "warden/launch.h"

#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <optional>
#include <stdexcept>

#include "jail/confine.h"
#include "log/log.h"
#include "sys/clone.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/signals.h"
#include "sys/socket.h"
#include "sys/whole_proc.h"
#include "util/container_advice.h"
#include "util/settings_table.h"
#include "warden/delegation.h"
#include "warden/handover.h"
#include "warden/id_range.h"
#include "warden/leftovers.h"
#include "warden/listen.h"
#include "warden/notify.h"
#include "warden/rootless.h"
#include "warden/supervise.h"
#include "warden/token_reader.h"
#include "wire/supervisor_messages.h"

namespace rookery::warden {

namespace {

// Limits that nobody can raise again once root is given up; those of jails are lower ones.
void require_limits(const util::Settings& settings) {
  const auto require = [](__rlimit_resource resource, const char* name, rlim_t least) {
    rlimit limit{};
    sys::check(::getrlimit(resource, &limit), "getrlimit");
    if (limit.rlim_max >= least) return;
    throw std::runtime_error(std::string("the start has an ") + name + " of " + std::to_string(limit.rlim_max) + ", and needs " + std::to_string(least) +
                             ": raise it (ulimit -H, or a service manager's Limit)");
  };
  require(RLIMIT_NOFILE, "RLIMIT_NOFILE", settings.nofile + jail::kReservedDescriptors);
  require(RLIMIT_FSIZE, "RLIMIT_FSIZE", std::uint64_t{settings.fsize_mb} << 20);
}

// Held for the life of the warden: two servers on one sessions root would remove each other's sessions.
sys::UniqueFd lock_sessions_root(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(path, failed);
  sys::UniqueFd root(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!root) sys::throw_errno("open the sessions root " + path + " (set SANDBOX_SESSIONS_ROOT to a directory that can be made)");
  if (::flock(root.get(), LOCK_EX | LOCK_NB) != 0) {
    throw std::runtime_error("the sessions root " + path + " is in use by another rookery: stop it, or set SANDBOX_SESSIONS_ROOT");
  }
  // It belongs to the user namespace of the last start, and root may have no right to pass by that.
  sys::check(::fchown(root.get(), ::geteuid(), ::getegid()), "chown the sessions root");
  return root;
}

// Nobody else may list it, as the names are the sessions' ids: but for root's group, by which root opens it at the next start. An
// ordinary user's group may have other members.
void hand_over_sessions_root(int root, uid_t owner, bool ordinary) {
  const bool for_roots_group = !ordinary && ::getegid() == 0;
  sys::check(::fchmod(root, for_roots_group ? 0750 : 0700), "chmod the sessions root");
  sys::check(::fchown(root, owner, for_roots_group ? 0 : owner), "chown the sessions root");
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
    sys::empty_groups();
    sys::check(::setresuid(0, 0, 0), "setresuid");
    place(fds);
    ::umask(022);  // sessions need what it makes
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
                             "/proc/sys/user/max_user_namespaces)" + util::container_advice() + util::restriction_advice());
  }
}

// Whoever reaches the port can run code: without a token that has to be this machine, or the operator's word.
void require_access(const util::Settings& settings, int listener) {
  if (!settings.auth_token.empty() && !settings.auth_token_file.empty()) {
    throw std::invalid_argument("SANDBOX_AUTH_TOKEN and SANDBOX_AUTH_TOKEN_FILE are both set: allowed is one of them");
  }
  if (!settings.auth_token.empty() || !settings.auth_token_file.empty() || is_local(listener)) return;
  const std::string where = util::find_setting("SANDBOX_LISTEN")->get(settings);
  if (!settings.no_auth) {
    throw std::invalid_argument("--listen " + where + " can be reached from elsewhere, and there is no token: set SANDBOX_AUTH_TOKEN_FILE, or "
                                "listen on 127.0.0.1, or say --no-auth if something else decides who gets here");
  }
  std::fprintf(stderr, "rookery: warning: no authentication on %s: whoever reaches it can run code (--no-auth)\n", where.c_str());
}

// `socket`: what the server or the runner serves. For a run, `run` is not null.
struct Served {
  sys::UniqueFd socket;
  Run* run = nullptr;
};

// In a process of its own, which keeps the two ends of nobody else.
pid_t start_collector(Run& run, Served& served) {
  const sys::Cloned collector = sys::clone_process(0);
  if (collector.pid != 0) {
    run.command.reset();
    return collector.pid;
  }
  served.socket.reset();
  ::_exit(run.collect(run.command.get()));
}

// Starts the warden. What is opened here and not returned is the warden's alone.
// `delegation` is nullptr where there is no cgroup.
Supervised start_warden(const util::Settings& settings, const IdRange& ids, const Delegation* delegation, Served served, int root) {
  auto [to_server, servers] = sys::seqpacket_pair();
  wire::send_to_supervised(to_server.get(), wire::SupervisorMessage::kOneToken, settings.auth_token);
  const sys::UniqueFd program(sys::check(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC), "open /proc/self/exe"));
  std::vector<int> groups;
  std::string how = "none";
  if (delegation != nullptr) {
    groups = delegation->group().descriptors();
    how = delegation->layout().unified() ? "v2" : "v1 " + std::to_string(groups.size());
  }
  ::setenv(kCgroupVariable, how.c_str(), 1);
  std::vector<int> fds = {served.socket.get(), root, program.get(), servers.get()};
  fds.insert(fds.end(), groups.begin(), groups.end());

  auto [here, there] = sys::seqpacket_pair();
  Supervised supervised;
  supervised.uid = ids.first;
  supervised.slots = slot_count(settings);
  if (delegation != nullptr) {
    supervised.cgroup_name = delegation->name();
    for (const std::string& own : delegation->layout().own_directories()) {
      supervised.cgroup_parents.emplace_back(sys::check(::open(own.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + own));
    }
  }
  if (served.run != nullptr) supervised.collector = start_collector(*served.run, served);
  if (served.run == nullptr && !settings.auth_token_file.empty()) {
    supervised.token_reader = start_token_reader(settings.auth_token_file, to_server.get(), program.get(), ids.first);
  }
  supervised.server = std::move(to_server);
  const sys::Cloned warden = clone_warden();
  if (warden.pid == 0) {
    here.reset();
    become_warden(there.get(), fds);
  }
  supervised.warden = warden.pid;
  map_ids(supervised.warden, ids);
  sys::check(::chdir("/"), "chdir /");
  if (delegation != nullptr && !delegation->layout().unified()) delegation->self().add(supervised.warden);
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
    throw std::runtime_error(std::string("jails cannot be made here: in a user namespace, mounting a proc gives \"") + std::strerror(error) + "\"" + util::container_advice() +
                             util::restriction_advice());
  }
  sys::unmask_proc();
}

// An ordinary user's start. Returns why there will be too few ids, or "".
std::string become_root() {
  const Ranges ranges = find_ranges();
  become_root_of_own_namespace(ranges);
  return ranges.why_not;
}

// What is missing has to be allowed by name, else the start ends here; and only for an ordinary user: root's own id is
// none to give to a session.
IdRange choose_ids(const util::Settings& settings, bool ordinary, const std::string& few_ids, util::Weaker& weaker) {
  std::string why = few_ids;
  try {
    if (why.empty() && sys::groups_are_fixed()) throw std::runtime_error("this user namespace forbids to give up supplementary groups (/proc/self/setgroups)");
    if (why.empty()) return choose_id_range(settings.sessions_root);
  } catch (const std::runtime_error& error) {
    if (!ordinary) throw;
    why = error.what();
  }
  if (!settings.allow_weaker.shared_uid) {
    throw std::runtime_error(why + ". SANDBOX_ALLOW_WEAKER=shared-uid starts without: sessions, warden and server then all have the id and groups "
                             "that rookery is started with (SECURITY.md, \"Without root\")");
  }
  std::fprintf(stderr, "rookery: shared-uid: %s\n", why.c_str());
  weaker.shared_uid = true;
  return {0, 1};
}

void delegate(const util::Settings& settings, int root, const IdRange& ids, std::optional<Delegation>& delegation, util::Weaker& weaker) {
  try {
    delegation.emplace(settings.sessions_root, root, ids.first);
    return;
  } catch (const std::exception& error) {
    if (!settings.allow_weaker.no_cgroup) {
      throw std::runtime_error(std::string(error.what()) + (util::in_container() ? ". Docker with userns-remap needs --userns=host, an engine without root a delegated cgroup v2. "
                                                                                 : ". An ordinary user gets a cgroup by `systemd-run --user --scope -p Delegate=yes`. ") +
                               "SANDBOX_ALLOW_WEAKER=no-cgroup starts without: then rlimits alone limit a session (SECURITY.md, \"Without root\")");
    }
    std::fprintf(stderr, "rookery: no-cgroup: %s\n", error.what());
  }
  weaker.no_cgroup = true;
}

struct Rights {
  bool ordinary = false;  // started by an ordinary user
  std::string few_ids;    // why there will be too few of them, or ""
};

// What both need of the start.
Rights take_rights() {
  Rights rights;
  rights.ordinary = ::geteuid() != 0;
  if (rights.ordinary) rights.few_ids = become_root();
  if (const std::string lacking = sys::lacking_capabilities(kStartCapabilities); !lacking.empty()) {
    throw std::runtime_error("the start needs the capabilities that are missing here: " + lacking + " (in a container: --cap-add; they are given up at once)");
  }
  show_whole_proc();
  return rights;
}

int launch_with(util::Settings& settings, const Rights& rights, Served served, sys::UniqueFd notify) {
  require_limits(settings);
  const sys::UniqueFd root = lock_sessions_root(settings.sessions_root);
  // The warden's working directory: its mount namespace takes it along only from here. Root may lack the right later.
  sys::check(::fchdir(root.get()), "go to the sessions root");
  util::Weaker weaker;
  const IdRange ids = choose_ids(settings, rights.ordinary, rights.few_ids, weaker);
  if (const std::uint32_t needed = kFirstSessionUid + slot_count(settings); !weaker.shared_uid && needed > ids.count) {
    throw std::runtime_error("SANDBOX_MAX_SESSIONS=" + std::to_string(settings.max_sessions) + " needs " + std::to_string(needed) + " user ids, and here are " +
                             std::to_string(ids.count) + ": lower it, or give this user namespace a larger range");
  }
  Supervised supervised;
  {
    std::optional<Delegation> delegation;
    delegate(settings, root.get(), ids, delegation, weaker);
    util::set_weaker(settings, weaker);
    remove_left_sessions(root.get());
    hand_over_sessions_root(root.get(), ids.first, rights.ordinary);
    supervised = start_warden(settings, ids, delegation ? &*delegation : nullptr, std::move(served), root.get());
    if (delegation) supervised.way_back = delegation->keep();
  }
  supervised.notify = std::move(notify);
  log::start(settings, "supervisor");
  return supervise(std::move(supervised));
}

}  // namespace

int launch(util::Settings settings) {
  if (::geteuid() != 0 && !settings.auth_token_file.empty()) {
    throw std::runtime_error("SANDBOX_AUTH_TOKEN_FILE needs a start as root, for the process that reads it again: set SANDBOX_AUTH_TOKEN");
  }
  sys::reset_signals();
  const Rights rights = take_rights();
  sys::UniqueFd notify = connect_notify_socket();
  sys::UniqueFd listener = listen_on(settings);
  require_access(settings, listener.get());
  util::export_settings(settings);
  ::unsetenv(kServedVariable);
  return launch_with(settings, rights, {std::move(listener)}, std::move(notify));
}

int launch_run(util::Settings settings, Run run) {
  if (::geteuid() != 0) throw std::runtime_error("rookery run has to be started as root: it makes a user namespace with many ids, then gives root up");
  const Rights rights = take_rights();
  util::export_settings(settings);
  ::setenv(kServedVariable, kRunnerTitle, 1);
  sys::UniqueFd runner = std::move(run.runner);
  return launch_with(settings, rights, {std::move(runner), &run}, {});
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
//
// Theory of operation.
//
//   rookery serve (supervisor)   uid of Z's root, fsuid 0, no capability: waits, then removes the cgroup directories
//    └─ rookery: warden          uid 0 in Z, all capabilities there, none on the host; pid 1 of a PID namespace;
//        │                       one thread, one epoll loop; a filter that holds for all below
//        ├─ rookery: server      uid 100 in Z, an empty root; HTTP
//        ├─ rookery: exporter    uid 101 in Z, a small root; sends telemetry; only with TELEMETRY_ENABLED
//        ├─ rookery: zygote      uid 0 in Z, six capabilities there, the image as root: forks interpreters into jails
//        └─ rookery: init …      one per session, pid 1 of its jail, an unused uid
//
// The warden talks to the server over one SEQPACKET channel (requests.h) and to each init over another. It never reads
// a client's bytes. When it ends, the kernel ends everything in its PID namespace.

#include "warden/main.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>
#include <thread>

#include "jail/image.h"
#include "log/log.h"
#include "sys/clone.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/mount.h"
#include "sys/socket.h"
#include "util/container_advice.h"
#include "util/embedded.h"
#include "warden/exporter_process.h"
#include "warden/handover.h"
#include "warden/leftovers.h"
#include "warden/pool.h"
#include "warden/requests.h"
#include "warden/role.h"
#include "warden/trees.h"

namespace rookery::warden {

namespace {

constexpr std::uint64_t kServerTag = 1;
constexpr std::uint64_t kServerEndTag = 2;
constexpr std::uint64_t kSignalTag = 3;
constexpr std::uint64_t kExporterEndTag = 4;

sys::Cgroup inherited_cgroup() {
  const char* how = std::getenv(kCgroupVariable);
  if (how == nullptr) throw std::runtime_error("the warden is started by `rookery serve` only");
  const std::string text = how;
  std::vector<sys::UniqueFd> directories;
  if (text == "none") return {};
  const int count = text == "v2" ? 1 : std::atoi(text.c_str() + 2);
  for (int i = 0; i < count; ++i) directories.emplace_back(kFirstCgroup + i);
  ::unsetenv(kCgroupVariable);
  return sys::Cgroup::from_descriptors(text == "v2", std::move(directories));
}

// Holds for everything below as well. The warden's own calls are few, but a filter can only be inherited, not lifted: this one
// is as loose as the loosest of its children needs, and no looser.
void refuse_what_nobody_needs() {
  sys::set_no_new_privileges();
  const sys::SeccompFilter filter = sys::SeccompFilter::compile(util::embedded_file("policy/seccomp/warden.json"));
  sys::check(filter.load(), "load the warden's seccomp filter");
  if (::syscall(SYS_keyctl, -1) == 0 || errno != EPERM) throw std::logic_error("the warden's seccomp filter is not in force");
}

void own_descriptors() {
  for (int fd = kListenSocket; fd < kFirstCgroup + 8; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  rlimit files{};
  sys::check(::getrlimit(RLIMIT_NOFILE, &files), "getrlimit");
  files.rlim_cur = files.rlim_max;
  sys::check(::setrlimit(RLIMIT_NOFILE, &files), "setrlimit");
}

struct Server {
  std::string title;
  sys::Cloned process;
  int status = 0;  // wait status, once it has been reaped
  sys::UniqueFd channel;
};

// Into namespaces of its own already here: it sees no other process and no mount but its own. It drops the rest itself
// after its exec (server/main.h), which it needs for its memory to be its own.
Server start_server(const ExporterProcess* exporter) {
  auto [here, there] = sys::seqpacket_pair();
  Server server;
  const char* const title = std::getenv(kServedVariable);
  server.title = title != nullptr ? title : kServerTitle;
  server.process = sys::clone_process(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC);
  if (server.process.pid == 0) {
    const char* const role = server.title.c_str();
    if (exporter != nullptr) become_role(role, {kListenSocket, there.get(), kSupervisor, exporter->channel(), exporter->counts()});
    become_role(role, {kListenSocket, there.get(), kSupervisor});
  }
  server.channel = std::move(here);
  ::close(kSupervisor);  // secrets go by there
  return server;
}

sys::UniqueFd watch_signals() {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1, SIGCHLD, SIGHUP}) sigaddset(&watched, signal);
  sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
  ::signal(SIGPIPE, SIG_IGN);
  return sys::UniqueFd(sys::check(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
}

// Reads the pending signals; the one to drain goes on to the server. As pid 1 of its namespace the warden gets orphans too, and reaps whatever has ended: its own
// children are followed by pidfd, which a reaped process keeps readable. Returns whether to stop.
bool handle_signals(int signals, Server& server) {
  bool stop = false;
  signalfd_siginfo info;
  while (::read(signals, &info, sizeof info) == sizeof info) {
    stop |= info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT;
    if (info.ssi_signo == SIGUSR1) sys::signal_process(server.process.pidfd.get(), SIGUSR1);
  }
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == server.process.pid) server.status = status;
  }
  return stop;
}

// Of two times to wait, where -1 means for ever.
int earlier(int one, int other) { return one < 0 || other < 0 ? std::max(one, other) : std::min(one, other); }

// The loop. Returns the exit status once the server has ended.
int serve(Poller& poller, Pool& pool, Requests& requests, Server& server, ExporterProcess* exporter, int signals) {
  for (;;) {
    for (const std::uint64_t tag : poller.wait(earlier(pool.timeout_ms(), exporter != nullptr ? exporter->timeout_ms() : -1))) {
      if (tag == kServerTag) {
        // Closed: it is ending, which its pidfd will say too.
        if (!requests.serve(pool)) poller.remove(requests.channel());
      } else if (tag == kServerEndTag) {
        poller.remove(server.process.pidfd.get());
        handle_signals(signals, server);
        const int status = server.status;
        if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
        log::critical("a process that the warden needs ended unexpectedly; all sessions are gone",
                      {{"process", server.title}, {WIFEXITED(status) ? "status" : "signal", std::int64_t{WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status)}}});
        return 1;
      } else if (tag == kExporterEndTag) {
        exporter->on_end(poller);
      } else if (tag == kSignalTag) {
        if (handle_signals(signals, server)) sys::signal_process(server.process.pidfd.get(), SIGTERM);
      } else {
        pool.on_event(tag);
      }
    }
    pool.on_timer();
    if (exporter != nullptr) exporter->on_timer(poller, kExporterEndTag);
  }
}

// How long the end waits for all jails to be gone.
constexpr auto kShutDown = std::chrono::seconds(10);

// With SANDBOX_WORKSPACE=dir a session's directory may still be on its way out, in a child's hands.
void remove_left_directories() noexcept {
  for (int attempt = 0; attempt < 100; ++attempt) {
    try {
      const sys::UniqueFd root(sys::check(::open("/sessions", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the sessions root"));
      remove_left_sessions(root.get());
      forget_recorded_cgroups(root.get());
      return;
    } catch (const std::exception&) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));  // both removed the same thing: look again
    }
  }
}

void end_all(Poller& poller, Pool& pool, Requests& requests, Server& server, int signals) {
  sys::signal_process(server.process.pidfd.get(), SIGKILL);
  poller.remove(server.process.pidfd.get());
  poller.remove(requests.channel());
  pool.shut_down();
  const auto deadline = std::chrono::steady_clock::now() + kShutDown;
  while (!pool.done() && std::chrono::steady_clock::now() < deadline) {
    for (const std::uint64_t tag : poller.wait(100)) {
      if (tag == kSignalTag) handle_signals(signals, server);
      if (tag > kExporterEndTag) pool.on_event(tag);
    }
    pool.on_timer();
  }
  if (!pool.done()) log::warning("some jails did not end in time; the kernel ends them with the warden");
}

// Flat jails live in Z itself, so this is where the kernel's own switch against inner user namespaces is for them.
void forbid_user_namespaces() { sys::write_file("/proc/sys/user/max_user_namespaces", "0"); }

// How long the start waits for the zygote's imports; jails are built without it after that.
constexpr auto kWarmUp = std::chrono::seconds(60);

// Fail closed: the first jail of each image has to come up before the server accepts anything. Sends the server its start signal.
void prove_jails(Poller& poller, Pool& pool, JailContext& context, Server& server, int signals) {
  const auto patience = std::chrono::steady_clock::now() + kWarmUp;
  while (!pool.images().all_had_success()) {
    if (!pool.images().warming_up() || std::chrono::steady_clock::now() > patience) pool.refill();
    if (const std::string failure = pool.images().last_failure(); !failure.empty()) {
      if (!context.nested || context.settings->jail_userns != util::JailUserns::kAuto || context.settings->weaker.shared_uid ||
          pool.images().had_success()) {
        throw std::runtime_error("no jail can be built here: " + failure + util::container_advice() + util::restriction_advice());
      }
      // A host that refuses nested user namespaces: /proc/sys/user/max_user_namespaces, an LSM.
      log::warning("jails are made flat, without a user namespace of their own (SANDBOX_JAIL_USERNS=auto)");
      context.nested = false;
      pool.forget_failures();
    }
    for (const std::uint64_t tag : poller.wait(1000)) {
      if (tag == kSignalTag && handle_signals(signals, server)) throw std::runtime_error("stopped before it was ready");
      if (tag == kServerEndTag) throw std::runtime_error("the server could not start (its error is above)");
      if (tag == kExporterEndTag) throw std::runtime_error("the exporter could not start (its error is above)");
      if (tag > kExporterEndTag) pool.on_event(tag);
    }
    pool.on_timer();
  }
}

}  // namespace

int warden_main(const util::Settings& settings) {
  sys::check(::prctl(PR_SET_NAME, "warden"), "name the process");
  sys::check(::prctl(PR_SET_DUMPABLE, 0), "make the process not dumpable");
  log::start(settings, "warden");
  refuse_what_nobody_needs();
  // A flat jail's id would be that of the warden itself.
  if (settings.weaker.shared_uid && settings.jail_userns == util::JailUserns::kFlat) {
    throw std::runtime_error("SANDBOX_JAIL_USERNS=flat needs user ids of its own for each session, and here is only one (shared-uid)");
  }
  own_descriptors();
  const sys::Cgroup cgroup = inherited_cgroup();
  const sys::UniqueFd signals = watch_signals();
  Trees trees;
  try {
    trees = build_trees(settings);
  } catch (const std::exception&) {
    forget_recorded_cgroups(kSessionsRoot);  // no session has one yet; the supervisor removes rookery's own
    throw;
  }
  const sys::SeccompFilter filter = sys::SeccompFilter::compile(util::embedded_file("policy/seccomp/session.json"));
  std::optional<ExporterProcess> exporter;
  if (settings.telemetry_enabled) {
    exporter.emplace(settings, trees.root);
    exporter->follow_log();
  }
  Server server = start_server(exporter ? &*exporter : nullptr);
  const std::string below = trees.root;
  sys::enter_root(trees.root);
  for (jail::Image& image : trees.images) image.root.erase(0, below.size());

  JailContext context;
  context.settings = &settings;
  context.filter = &filter;
  context.cgroup = &cgroup;
  context.nested = settings.jail_userns != util::JailUserns::kFlat;
  context.timed = std::getenv(SetupTimes::kVariable) != nullptr;
  context.sessions_root = "/sessions";
  Poller poller;
  Requests requests(std::move(server.channel), exporter ? &*exporter : nullptr);
  const sys::SeccompFilter zygote_filter = sys::SeccompFilter::compile(util::embedded_file("policy/seccomp/zygote.json"));
  std::optional<ZygoteRecipe> recipe;
  if (settings.spawn == util::SpawnMode::kFork) {
    recipe = ZygoteRecipe{nullptr, &filter, &zygote_filter, jail_limits(settings)};
  }
  Pool pool(context, poller, requests, trees.images, recipe);
  poller.add(signals.get(), kSignalTag);
  poller.add(server.process.pidfd.get(), kServerEndTag);
  int status = 1;
  try {
    if (exporter) exporter->start(poller, kExporterEndTag);
    prove_jails(poller, pool, context, server, signals.get());
    if (!context.nested) forbid_user_namespaces();
    const std::byte go{1};
    if (!sys::send_packet(requests.channel(), std::span(&go, 1))) sys::throw_errno("start the server");
    poller.add(requests.channel(), kServerTag);
    status = serve(poller, pool, requests, server, exporter ? &*exporter : nullptr, signals.get());
  } catch (const std::exception& error) {
    log::critical(error.what());
  }
  end_all(poller, pool, requests, server, signals.get());
  remove_left_directories();
  if (exporter) exporter->finish();
  return status;
}

}  // namespace rookery::warden

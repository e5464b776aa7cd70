// SPDX-License-Identifier: Apache-2.0
#include "warden/supervise.h"

#include <fcntl.h>
#include <poll.h>
#include <seccomp.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>
#include <optional>
#include <stdexcept>

#include "log/log.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "util/embedded.h"
#include "sys/seccomp.h"
#include "wire/supervisor_messages.h"

namespace rookery::warden {

namespace {

void give_up_root(uid_t uid) {
  sys::take_ids(uid, uid);
  ::setfsuid(0);
  sys::keep_only_capabilities({});
  sys::set_no_new_privileges();
  sys::verify_dropped({});
  const sys::SeccompFilter filter = sys::SeccompFilter::compile(util::embedded_file("policy/seccomp/supervisor.json"));
  sys::check(filter.load(), "load the supervisor's seccomp filter");
}

class OwnerWritable {
 public:
  explicit OwnerWritable(int directory) noexcept : directory_(directory) {
    struct stat info{};
    if (::fstat(directory, &info) != 0 || (info.st_mode & S_IWUSR) != 0) return;
    mode_ = info.st_mode & 07777;
    changed_ = ::fchmod(directory, mode_ | S_IWUSR) == 0;
  }
  ~OwnerWritable() {
    if (changed_) ::fchmod(directory_, mode_);
  }
  OwnerWritable(const OwnerWritable&) = delete;
  OwnerWritable& operator=(const OwnerWritable&) = delete;

 private:
  int directory_;
  mode_t mode_ = 0;
  bool changed_ = false;
};

// Removes rookery's cgroup below one directory. False while something of it is still in use.
bool remove_cgroup(int parent, const Supervised& supervised) noexcept {
  const std::string& name = supervised.cgroup_name;
  // The root of a hierarchy has mode 0555: its owner may lift that for a moment.
  const OwnerWritable writable(parent);
  ::unlinkat(parent, (name + "/self").c_str(), AT_REMOVEDIR);
  if (::unlinkat(parent, name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  // A warden that was killed leaves its sessions' cgroups, empty by now.
  for (std::uint32_t slot = 0; slot < supervised.slots; ++slot) {
    ::unlinkat(parent, (name + "/s-" + std::to_string(slot)).c_str(), AT_REMOVEDIR);
  }
  return false;
}

void clear_cgroups(const Supervised& supervised) noexcept {
  // The kernel empties a cgroup a moment after the last process of it has ended.
  for (int attempt = 0; attempt < 200; ++attempt) {
    supervised.way_back.leave();
    bool gone = true;
    for (const sys::UniqueFd& parent : supervised.cgroup_parents) gone &= remove_cgroup(parent.get(), supervised);
    if (gone) return;
    const timespec wait{0, 10'000'000};
    ::nanosleep(&wait, nullptr);
  }
}

// Says one thing to systemd, if it wants to know (sd_notify(3)).
void tell(const Supervised& supervised, std::string_view text) noexcept {
  if (supervised.notify) [[maybe_unused]] const ssize_t written = ::write(supervised.notify.get(), text.data(), text.size());
}

void handle_signal(int signal, const Supervised& supervised) {
  if (signal == SIGCHLD) return;
  if (signal == SIGHUP) {
    if (supervised.token_reader > 0) ::kill(supervised.token_reader, SIGHUP);
  } else if (signal != SIGUSR1) {
    tell(supervised, "STOPPING=1");
  }
  ::kill(supervised.warden, signal == SIGINT ? SIGTERM : signal);
}

// What has ended. `collected` is the status of the collector.
struct Ends {
  bool warden = false;
  int warden_status = 0;
  int collected = 0;
};

void reap(Supervised& supervised, Ends& ends) {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    if (pid == supervised.warden) {
      ends.warden = true;
      ends.warden_status = status;
    } else if (pid == supervised.collector) {
      supervised.collector = -1;
      ends.collected = status;
    } else if (pid == supervised.token_reader) {
      supervised.token_reader = -1;
      log::warning("the token reader ended; the access tokens stay as they are until the next start");
    }
  }
}

// The server's only word is that it is ready; after that, or when it is gone, nobody listens any more.
void hear_server(Supervised& supervised) {
  char kind = 0;
  if (::read(supervised.server.get(), &kind, 1) == 1 && kind == static_cast<char>(wire::SupervisorMessage::kReady)) tell(supervised, "READY=1");
  supervised.server.reset();
}

// Both may be in the cgroup that is to be removed. The status of a collector that is still there; it ends by itself.
std::optional<int> end_helpers(const Supervised& supervised) noexcept {
  if (supervised.token_reader > 0 && ::kill(supervised.token_reader, SIGKILL) == 0) ::waitpid(supervised.token_reader, nullptr, 0);
  int collected = 0;
  if (supervised.collector <= 0 || ::waitpid(supervised.collector, &collected, 0) < 0) return std::nullopt;
  return collected;
}

}  // namespace

int supervise(Supervised supervised) {
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1, SIGCHLD}) sigaddset(&watched, signal);
  sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
  const sys::UniqueFd signals(sys::check(::signalfd(-1, &watched, SFD_CLOEXEC | SFD_NONBLOCK), "signalfd"));
  try {
    give_up_root(supervised.uid);
  } catch (...) {
    // Nothing is served under a supervisor that has more rights than it should.
    if (::kill(supervised.warden, SIGKILL) == 0) ::waitpid(supervised.warden, nullptr, 0);
    end_helpers(supervised);
    clear_cgroups(supervised);
    throw;
  }

  const bool run = supervised.collector > 0;
  Ends ends;
  while (!ends.warden) {
    pollfd fds[] = {{signals.get(), POLLIN, 0}, {supervised.server.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) hear_server(supervised);
    signalfd_siginfo info;
    while (::read(signals.get(), &info, sizeof info) == sizeof info) handle_signal(static_cast<int>(info.ssi_signo), supervised);
    reap(supervised, ends);
  }
  if (const auto collected = end_helpers(supervised)) ends.collected = *collected;
  clear_cgroups(supervised);
  if (run && WIFEXITED(ends.collected)) return WEXITSTATUS(ends.collected);
  if (WIFEXITED(ends.warden_status)) return WEXITSTATUS(ends.warden_status);
  log::critical("the warden was ended by a signal; all sessions are gone", {{"signal", std::int64_t{WTERMSIG(ends.warden_status)}}});
  return 128 + WTERMSIG(ends.warden_status);
}

}  // namespace rookery::warden

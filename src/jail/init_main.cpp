// SPDX-License-Identifier: Apache-2.0
//
// The init of a jail: pid 1, a static program without secrets and without capabilities, under the session's seccomp
// filter from its first instruction. It starts bash and, in exec mode, Python; reaps; and ends processes on request.
// It installs no signal handler: pid 1 is killable from inside as soon as it has one (pid_namespaces(7)); SIGCHLD is
// blocked and read from a signalfd instead. When its channel to the warden closes, it ends, and the kernel ends all
// processes of the jail with it.

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <ctime>

#include "jail/init_protocol.h"
#include "jail/process_tree.h"
#include "jail/programs.h"
#include "jail/spare_bash.h"
#include "sys/socket.h"
#include "wire/message.h"

namespace rookery::jail {
namespace {

// The last processes that were reaped without anybody knowing them. An interpreter that the zygote made is one of them when it ends
// before the warden has said that it is one.
class Strangers {
 public:
  void add(pid_t pid, int status) noexcept { last_[count_++ % last_.size()] = {pid, status}; }
  // How `pid` ended.
  [[nodiscard]] int status(pid_t pid) const noexcept {
    for (std::size_t back = 1; back <= last_.size() && back <= count_; ++back) {
      const Ended& ended = last_[(count_ - back) % last_.size()];
      if (ended.pid == pid) return ended.status;
    }
    return SIGKILL;
  }

 private:
  struct Ended {
    pid_t pid;
    int status;
  };
  std::array<Ended, 64> last_{};
  std::size_t count_ = 0;
};

struct State {
  Programs programs;
  Strangers strangers;
  SpareBash spare_bash;
  pid_t repl = -1;
  pid_t bash = -1;
  std::uint64_t bash_nonce = 0;
};

void send(int channel, wire::Writer& message) {
  // The channels hold far more than the few messages of a call; where one is full its reader is gone or hostile
  // to itself, and the init must not wait.
  [[maybe_unused]] const bool sent = sys::send_packet(channel, message.packet());
}

void reap(State& state) {
  int status = 0;
  for (pid_t pid; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
    const SpareBash::Ended spare = state.spare_bash.ended(pid);
    if (spare == SpareBash::Ended::kLostCommand && pid == state.bash) {
      state.bash = state.programs.start_bash(state.spare_bash.command(), state.spare_bash.script());
      if (state.bash > 0) continue;
      pid = state.bash;
    }
    if (pid == state.bash) {
      state.bash = -1;
      const bool left_over = any_child_besides(state.repl, state.spare_bash.model());
      wire::Writer message(wire::Type::kBashExited, state.bash_nonce);
      send(kServerChannel, message.i32(status).u32(left_over ? 1 : 0));
      state.spare_bash.prepare(state.programs);
    } else if (pid == state.repl) {
      state.repl = -1;
      wire::Writer message(wire::Type::kReplExited, 0);
      send(kServerChannel, message.i32(status));
    } else {
      state.strangers.add(pid, status);
    }
  }
}

void end_processes(State& state, std::uint64_t nonce, wire::EndScope scope) {
  state.spare_bash.discard();
  if (scope == wire::EndScope::kEverything || !end_all_besides(state.repl, scope == wire::EndScope::kAllButReplTree)) {
    end_everything();
  }
  // The exits that this caused are answered by the reply below, not one by one.
  state.bash = -1;
  const bool repl_gone = state.repl > 0 && ::kill(state.repl, 0) != 0 && errno == ESRCH;
  if (repl_gone) state.repl = -1;
  wire::Writer message(wire::Type::kProcessesEnded, nonce);
  send(kServerChannel, message.u32(repl_gone ? 1 : 0));
}

void start_bash(State& state, std::string_view command, int script) {
  // A command too long for one argument: read from the descriptor, which is closed before the first line of it runs.
  if (script >= 0) command = "eval \"exec 9<&-\n$(</dev/fd/9)\"";
  state.bash = state.spare_bash.hand_over(command, script);
  if (state.bash < 0) state.bash = state.programs.start_bash(command, script);
}

void serve_server(State& state) {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  sys::Received received = sys::receive_packet(kServerChannel, buffer, 1);
  if (received.size <= 0 || received.truncated) return;
  const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
  if (!message) return;
  switch (message->header.type) {
    case wire::Type::kRunBash: {
      const int script = received.descriptors.empty() ? -1 : received.descriptors.front().get();
      start_bash(state, message->payload, script);
      state.bash_nonce = message->header.nonce;
      if (state.bash < 0) {
        // No process could be made (the pids limit): told like a shell that could not start, status 126.
        wire::Writer answer(wire::Type::kBashExited, state.bash_nonce);
        send(kServerChannel, answer.i32(126 << 8).u32(1));
      }
      break;
    }
    case wire::Type::kInterrupt:
      if (state.repl > 0) ::kill(state.repl, SIGINT);
      break;
    case wire::Type::kEndProcesses: {
      wire::Reader reader(message->payload);
      const auto scope = static_cast<wire::EndScope>(reader.u32());
      if (reader.done()) end_processes(state, message->header.nonce, scope);
      break;
    }
    default:
      break;
  }
}

void serve_warden(State& state) {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  sys::Received received = sys::receive_packet(kWardenChannel, buffer, 1);
  if (received.size <= 0) ::_exit(0);
  const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
  if (!message || message->header.type != wire::Type::kStartRepl) return;
  wire::Reader reader(message->payload);
  if (received.descriptors.empty()) {
    // Fork mode: the zygote made the interpreter; its pid in here comes with the message.
    state.repl = reader.i32();
    // EPERM: it lives, and has not taken its ids yet.
    if (state.repl > 0 && (::kill(state.repl, 0) == 0 || errno == EPERM)) return;
    // It ended, and was reaped as a stranger, before this word came.
    wire::Writer answer(wire::Type::kReplExited, 0);
    send(kServerChannel, answer.i32(state.strangers.status(state.repl)));
    state.repl = -1;
    return;
  }
  if (state.repl > 0) ::kill(state.repl, SIGKILL);
  state.repl = state.programs.start_interpreter(received.descriptors.front().get());
}

int serve(State& state) {
  sigset_t child;
  sigemptyset(&child);
  sigaddset(&child, SIGCHLD);
  if (::sigprocmask(SIG_BLOCK, &child, nullptr) != 0) return 71;
  const int signals = ::signalfd(-1, &child, SFD_CLOEXEC | SFD_NONBLOCK);
  if (signals < 0) return 71;
  wire::Writer ready(wire::Type::kJailReady, 0);
  send(kWardenChannel, ready);
  for (;;) {
    pollfd fds[] = {{kWardenChannel, POLLIN, 0}, {kServerChannel, POLLIN, 0}, {signals, POLLIN, 0}};
    // The server's end of its channel stays open in the warden until a lease, and the warden outlives the server's
    // use of it; once both have closed it, only the warden's word counts.
    if (::poll(fds, 3, -1) < 0) continue;
    if (fds[2].revents != 0) {
      signalfd_siginfo ignored;
      while (::read(signals, &ignored, sizeof ignored) > 0) {
      }
      reap(state);
    }
    if (fds[1].revents & POLLIN) serve_server(state);
    if (fds[0].revents != 0) serve_warden(state);
    if ((fds[1].revents & (POLLHUP | POLLERR)) && !(fds[1].revents & POLLIN)) return 0;
  }
}

}  // namespace
}  // namespace rookery::jail

int main(int argc, char** argv) {
  using namespace rookery::jail;
  if (argc != 3) return 64;
  // Not dumpable: /proc/1 and everything below it belong to root, whatever the uid says (proc(5)).
  if (::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0) return 71;
  for (int fd = kWardenChannel; fd <= kProgramError; ++fd) ::fcntl(fd, F_SETFD, FD_CLOEXEC);
  State state;
  state.programs.interpreter = argv[1];
  state.programs.open_files = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  return serve(state);
}

// SPDX-License-Identifier: Apache-2.0
#include "jail/spare_bash.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "jail/programs.h"
#include "sys/socket.h"

namespace rookery::jail {

namespace {

constexpr int kPatience = 3;       // so many that end unused, and no more are made
constexpr int kCopyPatienceMs = 100;  // for a model that is being executed, or was stopped

// Ours and the one for a child, which execs.
bool channel_to_child(sys::UniqueFd& ours, sys::UniqueFd& childs) noexcept {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return false;
  ours.reset(ends[0]);
  childs.reset(ends[1]);
  return true;
}

void end(pid_t& pid) noexcept {
  if (pid < 0) return;
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  pid = -1;
}

}  // namespace

void SpareBash::prepare(const Programs& programs) noexcept {
  if (pid_ > 0 || ordered_ || ended_unused_ >= kPatience) return;
  sys::UniqueFd its_end;
  if (model_ < 0) {
    if (!channel_to_child(model_channel_, its_end)) return;
    model_ = programs.start_waiting_bash(its_end.get());
    if (model_ < 0) return;
  }
  if (!channel_to_child(channel_, its_end)) return;
  const std::byte order{1};
  const int given = its_end.get();
  ordered_ = sys::send_packet(model_channel_.get(), {&order, 1}, {&given, 1});
}

// The session can write to the model's memory: what comes from there is a pid of a child, or nothing.
void SpareBash::await_copy() noexcept {
  if (!std::exchange(ordered_, false)) return;
  ::kill(model_, SIGCONT);
  pollfd told{model_channel_.get(), POLLIN, 0};
  pid_t pid = -1;
  siginfo_t info{};
  if (::poll(&told, 1, kCopyPatienceMs) == 1 && ::recv(told.fd, &pid, sizeof pid, MSG_DONTWAIT) == sizeof pid && pid > 1 &&
      ::waitid(P_PID, static_cast<id_t>(pid), &info, WEXITED | WNOHANG | WNOWAIT) == 0) {
    pid_ = pid;
  } else {
    discard();
  }
}

pid_t SpareBash::hand_over(std::string_view command, int script) {
  await_copy();
  if (pid_ < 0) return -1;
  const std::span<const std::byte> text = std::as_bytes(std::span(command.data(), command.size()));
  if (!sys::send_packet(channel_.get(), text, script < 0 ? std::span<const int>() : std::span(&script, 1))) {
    discard();
    return -1;
  }
  ::kill(pid_, SIGCONT);
  given_channel_ = std::move(channel_);
  given_pid_ = std::exchange(pid_, -1);
  command_ = command;
  script_.reset(script < 0 ? -1 : ::fcntl(script, F_DUPFD_CLOEXEC, 0));
  return given_pid_;
}

SpareBash::Ended SpareBash::ended(pid_t pid) noexcept {
  if (pid == given_pid_) {
    given_pid_ = -1;
    char taken = 0;
    const bool took = ::recv(given_channel_.get(), &taken, 1, MSG_DONTWAIT) == 1;
    given_channel_.reset();
    if (took) ended_unused_ = 0;
    return took ? Ended::kNotSpare : Ended::kLostCommand;
  }
  if (pid != pid_ && pid != model_) return Ended::kNotSpare;
  if (pid == model_) {
    model_ = -1;
    // A copy of it that nobody has told of waits for nothing: its channel closes, and it ends.
    if (std::exchange(ordered_, false)) channel_.reset();
  } else {
    pid_ = -1;
    channel_.reset();
  }
  ++ended_unused_;
  return Ended::kUnused;
}

void SpareBash::discard() noexcept {
  // What was given is not to be run again: whoever discards ends everything.
  given_pid_ = -1;
  given_channel_.reset();
  ordered_ = false;
  channel_.reset();
  model_channel_.reset();
  end(pid_);
  end(model_);
}

}  // namespace rookery::jail

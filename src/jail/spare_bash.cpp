// SPDX-License-Identifier: Apache-2.0
#include "jail/spare_bash.h"

#include <fcntl.h>
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
constexpr int kPatience = 3;  // so many that end unused, and no more are made
}

void SpareBash::prepare(const Programs& programs) noexcept {
  if (pid_ > 0 || ended_unused_ >= kPatience) return;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  channel_.reset(ends[0]);
  const sys::UniqueFd its_end(ends[1]);
  pid_ = programs.start_waiting_bash(its_end.get());
  if (pid_ < 0) channel_.reset();
}

pid_t SpareBash::hand_over(std::string_view command, int script) {
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
  if (pid != pid_) return Ended::kNotSpare;
  channel_.reset();
  pid_ = -1;
  ++ended_unused_;
  return Ended::kUnused;
}

void SpareBash::discard() noexcept {
  // What was given is not to be run again: whoever discards ends everything.
  given_pid_ = -1;
  given_channel_.reset();
  if (pid_ < 0) return;
  channel_.reset();
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace rookery::jail

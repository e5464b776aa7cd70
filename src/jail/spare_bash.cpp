// SPDX-License-Identifier: Apache-2.0
#include "jail/spare_bash.h"

#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <span>

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
  pid_ = programs.start_waiting_bash(ends[1]);
  ::close(ends[1]);
  channel_ = ends[0];
  if (pid_ < 0) close_channel();
}

pid_t SpareBash::hand_over(std::string_view command, int script) noexcept {
  if (pid_ < 0) return -1;
  const std::span<const std::byte> text = std::as_bytes(std::span(command.data(), command.size()));
  const bool sent = sys::send_packet(channel_, text, script < 0 ? std::span<const int>() : std::span(&script, 1));
  if (!sent) {
    discard();
    return -1;
  }
  close_channel();
  ::kill(pid_, SIGCONT);
  const pid_t pid = pid_;
  pid_ = -1;
  ended_unused_ = 0;
  return pid;
}

bool SpareBash::ended(pid_t pid) noexcept {
  if (pid_ < 0 || pid != pid_) return false;
  close_channel();
  pid_ = -1;
  ++ended_unused_;
  return true;
}

void SpareBash::discard() noexcept {
  if (pid_ < 0) return;
  close_channel();
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

void SpareBash::close_channel() noexcept {
  ::close(channel_);
  channel_ = -1;
}

}  // namespace rookery::jail

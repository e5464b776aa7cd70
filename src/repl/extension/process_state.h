// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <csignal>

// What a cell may change of its process and the next one must not see: signal dispositions, timers,
// the signal mask, a working directory that is gone.
namespace rookery::repl {

// The dispositions of the standard signals. Those of the real-time ones are Python's to look after (state.py): each takes a
// system call to look at, and hardly anything else sets them.
class SignalDispositions {
 public:
  static constexpr int kCount = 32;  // signals are 1..31; index 0 is unused

  // Remembers every disposition as it is now.
  void remember() noexcept;

  // Puts back those that differ and marks them in `changed`. True when there was one.
  bool restore(bool (&changed)[kCount]) const noexcept;

 private:
  struct sigaction start_[kCount] = {};
  bool known_[kCount] = {};  // false for SIGINT (see below), SIGKILL and SIGSTOP
};

// SIGINT is held back in the calling thread while the driver works, so that an interrupt for a cell hits
// that cell's code and nothing else.
void hold_interrupt() noexcept;   // blocks SIGINT
void release_signals() noexcept;  // unblocks everything

// Between two cells SIGINT does nothing, whichever thread the kernel gives it to: one of the user's that took it before a cell
// began could otherwise tell Python of it after that.
void remember_interrupt_handler() noexcept;
void ignore_interrupts() noexcept;
void expect_interrupts() noexcept;  // the remembered handler again; a held interrupt was meant for a cell that has ended

void cancel_timers() noexcept;  // alarm() and the three setitimer() clocks

// Goes to `fallback` when the working directory was deleted or became unreachable.
void leave_lost_directory(const char* fallback) noexcept;

}  // namespace rookery::repl

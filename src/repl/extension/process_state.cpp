// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/process_state.h"

#include <fcntl.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <ctime>

#include "repl/extension/descriptors.h"
#include "sys/unique_fd.h"

namespace rookery::repl {

namespace {

// Only who handles the signal counts: Python itself sets other flags than it found.
bool same_handler(const struct sigaction& a, const struct sigaction& b) noexcept {
  const bool a_info = (a.sa_flags & SA_SIGINFO) != 0;
  const bool b_info = (b.sa_flags & SA_SIGINFO) != 0;
  if (a_info != b_info) return false;
  return a_info ? a.sa_sigaction == b.sa_sigaction : a.sa_handler == b.sa_handler;
}

sigset_t only_interrupt() noexcept {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGINT);
  return set;
}

// Not SIG_IGN, which programs that a thread starts meanwhile would keep (execve(2)).
extern "C" void take_no_notice(int) {}

struct sigaction interrupt_handler {};

}  // namespace

void SignalDispositions::remember() noexcept {
  for (int number = 1; number < kCount; ++number) {
    known_[number] = number != SIGINT && number != SIGKILL && number != SIGSTOP &&
                     ::sigaction(number, nullptr, &start_[number]) == 0;
  }
}

bool SignalDispositions::restore(bool (&changed)[kCount]) const noexcept {
  bool any = false;
  for (int number = 1; number < kCount; ++number) {
    changed[number] = false;
    struct sigaction now {};
    if (!known_[number] || ::sigaction(number, nullptr, &now) != 0) continue;
    if (same_handler(now, start_[number])) continue;
    ::sigaction(number, &start_[number], nullptr);
    changed[number] = any = true;
  }
  return any;
}

void hold_interrupt() noexcept {
  const sigset_t set = only_interrupt();
  ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

void release_signals() noexcept {
  sigset_t none;
  sigemptyset(&none);
  ::pthread_sigmask(SIG_SETMASK, &none, nullptr);
}

void remember_interrupt_handler() noexcept { ::sigaction(SIGINT, nullptr, &interrupt_handler); }

void ignore_interrupts() noexcept {
  struct sigaction nothing {};
  nothing.sa_handler = take_no_notice;
  nothing.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &nothing, nullptr);
}

void expect_interrupts() noexcept {
  const sigset_t set = only_interrupt();
  const timespec at_once{};
  while (::sigtimedwait(&set, nullptr, &at_once) >= 0 || errno == EINTR) {
  }
  ::sigaction(SIGINT, &interrupt_handler, nullptr);
}

void cancel_timers() noexcept {
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  ::setitimer(ITIMER_VIRTUAL, &never, nullptr);
  ::setitimer(ITIMER_PROF, &never, nullptr);
}

void leave_lost_directory(const char* fallback) noexcept {
  char path[PATH_MAX];
  if (::getcwd(path, sizeof path) == nullptr && errno != ENAMETOOLONG && errno != ERANGE) {
    [[maybe_unused]] const int result = ::chdir(fallback);
  }
}

}  // namespace rookery::repl

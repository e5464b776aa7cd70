// SPDX-License-Identifier: Apache-2.0
#include "sys/signals.h"

#include <csignal>

#include "sys/error.h"

namespace rookery::sys {

void reset_signals() {
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);  // refused for SIGKILL, SIGSTOP and libc's own
  sigset_t none;
  sigemptyset(&none);
  check(::sigprocmask(SIG_SETMASK, &none, nullptr), "unblock all signals");
}

}  // namespace rookery::sys

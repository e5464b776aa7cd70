// SPDX-License-Identifier: Apache-2.0
#include "warden/role.h"

#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "warden/handover.h"

namespace rookery::warden {

void become_role(const char* title, std::initializer_list<int> descriptors) noexcept {
  constexpr int kAway = 64;  // above all places that are filled below
  constexpr int kFirst = 3;
  int moved[8];
  int count = 0;
  for (const int fd : descriptors) moved[count++] = ::fcntl(fd, F_DUPFD_CLOEXEC, kAway);
  const int program = ::fcntl(kProgram, F_DUPFD_CLOEXEC, kAway);
  for (int i = 0; i < count; ++i) {
    if (::dup2(moved[i], kFirst + i) < 0) ::_exit(70);
  }
  if (::close_range(static_cast<unsigned>(kFirst + count), static_cast<unsigned>(program) - 1, 0) != 0 ||
      ::close_range(static_cast<unsigned>(program) + 1, ~0u, 0) != 0) {
    ::_exit(70);
  }
  // One to drain that comes before the server looks for it has to wait, not to end it.
  sigset_t early;
  sigemptyset(&early);
  sigaddset(&early, SIGUSR1);
  ::sigprocmask(SIG_SETMASK, &early, nullptr);
  char* arguments[] = {const_cast<char*>(title), nullptr};
  ::fexecve(program, arguments, environ);
  ::_exit(70);
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#include "jail/programs.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstdio>
#include <string>

#include "jail/init_protocol.h"

namespace rookery::jail {

namespace {

// What a bash without a dynamic linker runs at once, and ps shows of one that waits. As long as what ps is to show of the command.
constexpr const char* kWaiting =
    "# waits for its command                                                                                                 ";
constexpr int kDriverChannel = 3;

// Runs in the child of a fork; only async-signal-safe calls.
void prepare(int kept_from, int kept_as) {
  ::setsid();
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::dup2(kProgramOutput, 1);
  ::dup2(kProgramError, 2);
  if (kept_from >= 0) {
    ::dup2(kept_from, kept_as);
    if (kept_as > 3) ::close_range(3, static_cast<unsigned>(kept_as) - 1, 0);
    ::close_range(static_cast<unsigned>(kept_as) + 1, ~0u, 0);
  } else {
    ::close_range(3, ~0u, 0);
  }
  // A session may have closed its workspace to itself; it must be able to open it again.
  if (::chdir("/workspace") != 0 && ::chdir("/") != 0) ::_exit(126);
}

[[noreturn]] void exec_bash(const char* command, char** environment, unsigned open_files) {
  const rlimit files{open_files, open_files};
  ::setrlimit(RLIMIT_NOFILE, &files);
  char* const arguments[] = {const_cast<char*>("bash"), const_cast<char*>("-c"), const_cast<char*>(command), nullptr};
  ::execve("/bin/bash", arguments, environment);
  ::_exit(127);
}

// The init's own and one more variable.
struct Environment {
  static constexpr std::size_t kMost = 62;
  char* pointers[kMost + 2];
  explicit Environment(char* more) {
    std::size_t count = 0;
    for (char** variable = environ; *variable != nullptr && count < kMost; ++variable) pointers[count++] = *variable;
    pointers[count++] = more;
    pointers[count] = nullptr;
  }
};

}  // namespace

pid_t Programs::start_bash(std::string_view command, int script) const {
  const std::string text(command);
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  prepare(script, kScript);
  exec_bash(text.c_str(), environ, open_files);
}

pid_t Programs::start_waiting_bash(int channel) const {
  std::string preload = std::string("LD_PRELOAD=") + kSpareBashPreload;
  Environment environment(preload.data());
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  prepare(channel, kCommandChannel);
  exec_bash(kWaiting, environment.pointers, open_files);
}

pid_t Programs::start_interpreter(int channel) const {
  std::string open_files_variable = "ROOKERY_NOFILE=" + std::to_string(open_files);
  Environment environment(open_files_variable.data());
  const pid_t pid = ::fork();
  if (pid != 0) return pid;
  prepare(channel, kDriverChannel);
  // -I: nothing from the environment, the user's site or the working directory runs before the driver does.
  char* const arguments[] = {const_cast<char*>(interpreter), const_cast<char*>("-I"), const_cast<char*>("-B"),
                             const_cast<char*>(kDriverPath), nullptr};
  ::execve(interpreter, arguments, environment.pointers);
  ::_exit(127);
}

}  // namespace rookery::jail

// SPDX-License-Identifier: Apache-2.0
#include "attempt.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <stdexcept>

#include "sys/error.h"

namespace rookery::policy {

namespace {

constexpr int kSetUpFailed = 99;
constexpr uid_t kNobody = 65534;

// Inline, not libc's function: after vfork the child must not return through the parent's stack.
[[gnu::always_inline]] inline long raw(long number, const Arguments& a) {
#if defined(__x86_64__)
  long result = number;
  register std::uint64_t r10 asm("r10") = a[3];
  register std::uint64_t r8 asm("r8") = a[4];
  register std::uint64_t r9 asm("r9") = a[5];
  asm volatile("syscall" : "+a"(result) : "D"(a[0]), "S"(a[1]), "d"(a[2]), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
#elif defined(__aarch64__)
  register long x8 asm("x8") = number;
  register std::uint64_t x0 asm("x0") = a[0];
  register std::uint64_t x1 asm("x1") = a[1];
  register std::uint64_t x2 asm("x2") = a[2];
  register std::uint64_t x3 asm("x3") = a[3];
  register std::uint64_t x4 asm("x4") = a[4];
  register std::uint64_t x5 asm("x5") = a[5];
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return static_cast<long>(x0);
#else
#error "add the system call instruction of this architecture"
#endif
}

void interrupted(int) {}

// Again and again: the first signal may come before the call that waits.
void interrupt_soon() {
  struct sigaction action{};
  action.sa_handler = &interrupted;
  const itimerval often{{0, 50'000}, {0, 100'000}};
  if (::sigaction(SIGALRM, &action, nullptr) != 0 || ::setitimer(ITIMER_REAL, &often, nullptr) != 0) ::_exit(kSetUpFailed);
}

struct Result {
  bool returned;
  long value;
};

// A call that makes a process returns 0 in the new one, which has to end at once; where 0 is an ordinary answer nothing is lost.
[[noreturn]] void call(const sys::SeccompFilter* filter, int number, const Arguments& arguments, volatile Result* result) {
  if (::getuid() == 0 && (::setresgid(kNobody, kNobody, kNobody) != 0 || ::setresuid(kNobody, kNobody, kNobody) != 0)) ::_exit(kSetUpFailed);
  for (int signal = 1; signal < NSIG; ++signal) ::signal(signal, SIG_DFL);  // the test program has handlers of its own
  interrupt_soon();
  if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || (filter != nullptr && filter->load() != 0)) ::_exit(kSetUpFailed);
  const long value = raw(number, arguments);
  const bool makes_process = number == SYS_clone
#ifdef SYS_fork
                             || number == SYS_fork || number == SYS_vfork
#endif
      ;
  if (!makes_process || value != 0) {
    result->value = value;
    result->returned = true;
  }
  raw(SYS_exit_group, {});
  __builtin_unreachable();
}

}  // namespace

Outcome attempt(const sys::SeccompFilter* filter, int number, const Arguments& arguments) {
  auto* result = static_cast<Result*>(::mmap(nullptr, sizeof(Result), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
  if (result == MAP_FAILED) sys::throw_errno("map the result");
  const pid_t child = ::fork();
  if (child < 0) sys::throw_errno("fork");
  if (child == 0) call(filter, number, arguments, result);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const Result seen = *result;
  ::munmap(result, sizeof(Result));
  if (WIFEXITED(status) && WEXITSTATUS(status) == kSetUpFailed) throw std::runtime_error("the child could not load the filter");
  if (WIFSIGNALED(status)) return {WTERMSIG(status) == SIGSYS ? Outcome::Kind::kKilledByFilter : Outcome::Kind::kSignalled, 0};
  if (!seen.returned) return {Outcome::Kind::kEnded, 0};
  if (seen.value < 0 && seen.value > -4096) return {Outcome::Kind::kFailed, static_cast<int>(-seen.value)};
  return {Outcome::Kind::kSucceeded, 0};
}

}  // namespace rookery::policy

// SPDX-License-Identifier: Apache-2.0
#include "sys/seccomp.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <functional>
#include <stdexcept>

#include "util/embedded.h"

using namespace rookery;

namespace {

sys::SeccompFilter policy(const char* role) {
  return sys::SeccompFilter::compile(util::embedded_file(std::string("policy/seccomp/") + role + ".json"));
}

// The errno of `probe` (0: it succeeded) in a child under the filter; 1000 + N when signal N ended it.
int under(const sys::SeccompFilter& filter, const std::function<long()>& probe) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || filter.load() != 0) ::_exit(254);
    const long result = probe();
    // Not _exit(3): before a call that does not return AddressSanitizer makes one of its own, which not every filter allows.
    ::syscall(SYS_exit_group, result < 0 ? errno : 0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace

TEST_CASE("every role's policy compiles, and its programs survive the way to another process") {
  for (const char* role : {"session", "server", "exporter", "supervisor", "zygote"}) {
    CAPTURE(role);
    const auto filter = policy(role);
    CHECK(filter.programs().size() == (std::string(role) == "supervisor" ? 1 : 2));
    const auto again = sys::SeccompFilter::deserialise(filter.serialise());
    CHECK(again.serialise() == filter.serialise());
  }
  CHECK_THROWS_AS(sys::SeccompFilter::deserialise("abc"), std::runtime_error);
  CHECK_THROWS_AS(sys::SeccompFilter::compile("{}"), std::runtime_error);
}

TEST_CASE("the server moves its own threads only") {
  const auto filter = policy("server");
  cpu_set_t set;
  CPU_ZERO(&set);
  CHECK(::sched_getaffinity(0, sizeof set, &set) == 0);
  CHECK(under(filter, [&] { return ::syscall(SYS_sched_setaffinity, 0, sizeof set, &set); }) == 0);
  CHECK(under(filter, [&] { return ::syscall(SYS_sched_setaffinity, ::getppid(), sizeof set, &set); }) == EPERM);
}

TEST_CASE("a session's refusals hold also where the kernel ignores high bits") {
  const auto filter = policy("session");
  const auto high = 1ul << 32;
  CHECK(under(filter, [] { return ::syscall(SYS_socket, AF_UNIX, SOCK_STREAM, 0); }) == 0);
  CHECK(under(filter, [] { return ::syscall(SYS_socket, AF_INET6, SOCK_DGRAM, 0); }) == 0);
  for (const int family : {0, 3, 9, 16, 17, 38, 40, 44}) {
    CAPTURE(family);
    CHECK(under(filter, [&] { return ::syscall(SYS_socket, family, SOCK_DGRAM, 0); }) == EPERM);
    CHECK(under(filter, [&] { return ::syscall(SYS_socket, family | high, SOCK_DGRAM, 0); }) == EPERM);
    int ends[2];
    CHECK(under(filter, [&] { return ::syscall(SYS_socketpair, family, SOCK_DGRAM, 0, ends); }) == EPERM);
  }
  CHECK(under(filter, [&] { return ::syscall(SYS_socket, AF_INET, SOCK_STREAM, 262); }) == EPERM);  // MPTCP
  CHECK(under(filter, [&] { return ::syscall(SYS_ioctl, -1, 0x5412 | high, 0); }) == EPERM);        // TIOCSTI
  CHECK(under(filter, [&] { return ::syscall(SYS_ioctl, -1, 0x5401, 0); }) == EBADF);               // reaches the kernel
  CHECK(under(filter, [&] { return ::syscall(SYS_fcntl, -1, F_SETLEASE | high, 0); }) == EPERM);
  CHECK(under(filter, [&] { return ::syscall(SYS_personality, 0x40000 | high); }) == EPERM);
  CHECK(under(filter, [&] { return ::syscall(SYS_prlimit64, 1, 7, nullptr, nullptr); }) == EPERM);
  CHECK(under(filter, [&] { return ::syscall(SYS_prlimit64, 0, 7, nullptr, nullptr); }) == 0);
}

TEST_CASE("unknown calls give ENOSYS, known and denied ones EPERM") {
  const auto filter = policy("session");
  CHECK(under(filter, [] { return ::syscall(1000); }) == ENOSYS);
  CHECK(under(filter, [] { return ::syscall(SYS_clone3, nullptr, 0); }) == ENOSYS);
  for (const long call : {SYS_unshare, SYS_setns, SYS_mount, SYS_bpf, SYS_ptrace, SYS_io_uring_setup, SYS_keyctl, SYS_chroot, SYS_seccomp}) {
    CAPTURE(call);
    CHECK(under(filter, [&] { return ::syscall(call, 0, 0, 0, 0, 0); }) == EPERM);
  }
}

TEST_CASE("the server can make neither a socket nor a process, and the supervisor can open nothing") {
  const auto server = policy("server");
  CHECK(under(server, [] { return ::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0); }) == EPERM);
  CHECK(under(server, [] { return ::syscall(SYS_clone, 17, 0, 0, 0, 0); }) == EPERM);  // SIGCHLD: a fork
  CHECK(under(server, [] { return ::syscall(SYS_execve, "/bin/true", nullptr, nullptr); }) == EPERM);
  CHECK(under(policy("supervisor"), [] { return ::syscall(SYS_openat, AT_FDCWD, "/", 0); }) == EPERM);
  CHECK(under(policy("supervisor"), [] { return ::syscall(SYS_unlinkat, -1, "x", 0); }) == EPERM);
  CHECK(under(policy("supervisor"), [] { return ::syscall(SYS_unlinkat, -1, "x", AT_REMOVEDIR); }) == EBADF);
}

#ifdef __x86_64__
TEST_CASE("the x32 ABI kills") {
  CHECK(under(policy("session"), [] { return ::syscall(0x40000000 | SYS_getpid); }) == 1000 + 31);
}
#endif

TEST_CASE("the exporter opens connections, and does nothing else that reaches beyond it") {
  const auto filter = policy("exporter");
  const auto high = 1ul << 32;
  CHECK(under(filter, [] { return ::syscall(SYS_socket, AF_INET, SOCK_STREAM, 0); }) == 0);
  CHECK(under(filter, [] { return ::syscall(SYS_socket, AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0); }) == 0);
  CHECK(under(filter, [] { return ::syscall(SYS_connect, -1, nullptr, 0); }) == EBADF);
  for (const unsigned long family : {0ul, 1ul, 3ul, 9ul, 16ul, 17ul, 38ul, 40ul, AF_UNIX | high, AF_PACKET | high}) {
    CAPTURE(family);
    CHECK(under(filter, [&] { return ::syscall(SYS_socket, family, SOCK_STREAM, 0); }) == EAFNOSUPPORT);
  }
  CHECK(under(filter, [] { return ::syscall(SYS_socket, AF_INET, SOCK_RAW, 0); }) == EAFNOSUPPORT);
  for (const long call : {SYS_bind, SYS_listen, SYS_accept4, SYS_execve, SYS_kill, SYS_ptrace, SYS_mount, SYS_setns, SYS_seccomp}) {
    CAPTURE(call);
    CHECK(under(filter, [&] { return ::syscall(call, -1, nullptr, nullptr, nullptr, nullptr, nullptr); }) == EPERM);
  }
  CHECK(under(filter, [] { return ::syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0); }) == EPERM);
  CHECK(under(filter, [] { return ::syscall(SYS_unlinkat, AT_FDCWD, "/none", 0); }) != ENOENT);
}

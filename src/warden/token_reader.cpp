// SPDX-License-Identifier: Apache-2.0
#include "warden/token_reader.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/fsuid.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>

#include "sys/clone.h"
#include "sys/confinement.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/unique_fd.h"
#include "util/embedded.h"
#include "wire/supervisor_messages.h"

namespace rookery::warden {

namespace {

std::string read_tokens(const std::string& name) {
  // Not to wait for anybody who would open a FIFO's other end.
  const sys::UniqueFd fd(sys::check(::open(name.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), "open the token file " + name));
  struct stat info{};
  sys::check(::fstat(fd.get(), &info), "look at the token file " + name);
  if (!S_ISREG(info.st_mode)) throw std::runtime_error("the token file " + name + " is no regular file");
  std::string text(wire::kMaxSupervisorText + 1, '\0');
  std::size_t size = 0;
  while (size < text.size()) {
    const ssize_t count = ::read(fd.get(), text.data() + size, text.size() - size);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) sys::throw_errno("read the token file " + name);
    if (count == 0) break;
    size += static_cast<std::size_t>(count);
  }
  if (size > wire::kMaxSupervisorText) throw std::runtime_error("the token file " + name + " is larger than 64 KiB");
  text.resize(size);
  return text;
}

// The order is the security property.
void give_up_root(uid_t uid, const std::string& name) {
  sys::check(::fchdir(kReaderDirectory), "enter the token file's directory");
  ::close(kReaderDirectory);
  struct stat owner{};
  sys::check(::stat(("." + name).c_str(), &owner), "look at the token file " + name);
  sys::take_ids(uid, uid);
  ::setfsgid(owner.st_gid);
  ::setfsuid(owner.st_uid);
  // For the right to chroot, which the start in a container may lack; files still belong to whom they belong.
  sys::check(::unshare(CLONE_NEWUSER), "make the token reader's user namespace");
  sys::check(::chroot("."), "chroot to the token file's directory");
  sys::confine({}, util::embedded_file("policy/seccomp/token-reader.json"));
}

void send_tokens(const std::string& name) {
  try {
    wire::send_to_supervised(kReaderChannel, wire::SupervisorMessage::kTokens, read_tokens(name));
  } catch (const std::exception& error) {
    wire::send_to_supervised(kReaderChannel, wire::SupervisorMessage::kProblem, error.what());
  }
}

const char* given(const char* variable) {
  const char* value = std::getenv(variable);
  if (value == nullptr) throw std::runtime_error("the token reader is started by `rookery serve` only");
  return value;
}

}  // namespace

pid_t start_token_reader(const std::string& path, int channel, int executable, uid_t uid) {
  const std::filesystem::path file(path);
  const sys::UniqueFd directory(sys::check(::open(file.parent_path().c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC),
                                           "open the directory of SANDBOX_AUTH_TOKEN_FILE " + path));
  const std::string name = std::string(kReaderFileVariable) + "=/" + file.filename().string();
  const std::string ids = std::string(kReaderUidVariable) + "=" + std::to_string(uid);
  const sys::Cloned reader = sys::clone_process(0);
  if (reader.pid != 0) return reader.pid;
  const int from[] = {::fcntl(channel, F_DUPFD_CLOEXEC, 64), ::fcntl(directory.get(), F_DUPFD_CLOEXEC, 64), ::fcntl(executable, F_DUPFD_CLOEXEC, 64)};
  if (::dup2(from[0], kReaderChannel) < 0 || ::dup2(from[1], kReaderDirectory) < 0) ::_exit(70);
  ::close_range(kReaderDirectory + 1, static_cast<unsigned>(from[2]) - 1, 0);
  ::close_range(static_cast<unsigned>(from[2]) + 1, ~0u, 0);
  char* arguments[] = {const_cast<char*>(kReaderTitle), nullptr};
  char* environment[] = {const_cast<char*>(name.c_str()), const_cast<char*>(ids.c_str()), nullptr};
  ::fexecve(from[2], arguments, environment);
  ::_exit(70);
}

int token_reader_main() {
  const std::string name = given(kReaderFileVariable);
  const auto uid = static_cast<uid_t>(std::strtoul(given(kReaderUidVariable), nullptr, 10));
  sys::check(::prctl(PR_SET_NAME, "token reader"), "name the process");
  sigset_t watched;
  sigemptyset(&watched);
  sigaddset(&watched, SIGHUP);
  sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
  try {
    give_up_root(uid, name);
  } catch (const std::exception& error) {
    wire::send_to_supervised(kReaderChannel, wire::SupervisorMessage::kProblem, error.what());
    return 1;
  }
  for (;;) {
    send_tokens(name);
    int signal = 0;
    while (::sigwait(&watched, &signal) != 0) {
    }
  }
}

}  // namespace rookery::warden

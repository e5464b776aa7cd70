// SPDX-License-Identifier: Apache-2.0
#include "cli/run_collector.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "cli/run.h"
#include "sys/beneath.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/socket.h"
#include "wire/message.h"

namespace rookery::cli {

namespace {

void write_file(int out, const std::string& path, int from) {
  struct stat info{};
  sys::check(::fstat(from, &info), "look at " + path);
  if (!S_ISREG(info.st_mode)) throw std::runtime_error(path + " is no regular file");
  const auto slash = path.rfind('/');
  const std::string name = slash == std::string::npos ? path : path.substr(slash + 1);
  if (name.empty() || name == "." || name == "..") throw std::runtime_error(path + " is no name of a file");
  const sys::MadeDirectories parent =
      sys::make_directories(out, slash == std::string::npos ? "." : path.substr(0, slash), {::geteuid(), ::getegid()});
  if (!parent.directory) sys::throw_errno("make the directory of " + path);
  const sys::UniqueFd to(sys::check(
      ::openat(parent.directory.get(), name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644), "create " + path));
  for (off_t offset = 0; offset < info.st_size;) {
    const ssize_t count = ::sendfile(to.get(), from, &offset, static_cast<std::size_t>(info.st_size - offset));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) sys::throw_errno("write " + path);
    if (count == 0) break;  // cut short meanwhile
  }
}

int follow(int runner, int out) {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  for (;;) {
    pollfd fds[] = {{runner, POLLIN, 0}};
    if (::poll(fds, 1, -1) < 0) continue;
    const sys::Received received = sys::receive_packet(runner, buffer, 1);
    const auto message = wire::parse({buffer, static_cast<std::size_t>(std::max<ssize_t>(received.size, 0))});
    if (!message || received.truncated) return kRunFailed;  // it ended without a word; its error is on stderr
    wire::Reader reader(message->payload);
    if (message->header.type == wire::Type::kRunEnded) {
      const std::int32_t status = reader.i32();
      return reader.done() ? status & 255 : kRunFailed;
    }
    const std::string path(reader.text());
    if (message->header.type != wire::Type::kRunFile || !reader.done() || received.descriptors.size() != 1) return kRunFailed;
    if (out >= 0) write_file(out, path, received.descriptors.front().get());
  }
}

constexpr int kRunner = 3;
constexpr int kOut = 4;

// Nothing stays open that the start left, the sessions root and the cgroups among it.
void keep_only(int runner, int out) {
  const int moved_runner = sys::check(::fcntl(runner, F_DUPFD_CLOEXEC, 64), "keep the channel");
  const int moved_out = out < 0 ? -1 : sys::check(::fcntl(out, F_DUPFD_CLOEXEC, 64), "keep the output directory");
  sys::check(::dup2(moved_runner, kRunner), "keep the channel");
  if (out >= 0) sys::check(::dup2(moved_out, kOut), "keep the output directory");
  sys::check(::close_range(out < 0 ? kOut : kOut + 1, ~0u, 0), "close all other descriptors");
}

}  // namespace

int collect(int runner, int out) noexcept {
  try {
    keep_only(runner, out);
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&watched, signal);  // the runner ends on them, and tells
    sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
    sys::keep_only_capabilities({});
    sys::set_no_new_privileges();
    sys::verify_dropped({});
    return follow(kRunner, out < 0 ? -1 : kOut);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return kRunFailed;
  }
}

}  // namespace rookery::cli

// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/descriptors.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace rookery::repl {

namespace {

constexpr rlim_t kPrivateCount = 4;

// The lowest number for the private descriptors that the limit in force allows.
int first_private_number() noexcept {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kFirstPrivateDescriptor;
  const rlim_t wanted = kFirstPrivateDescriptor + kPrivateCount;
  if (limit.rlim_cur < wanted && limit.rlim_cur < limit.rlim_max) {
    limit.rlim_cur = std::min(wanted, limit.rlim_max);
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return 3;
  }
  if (limit.rlim_cur >= wanted) return kFirstPrivateDescriptor;
  return limit.rlim_cur > kPrivateCount + 3 ? static_cast<int>(limit.rlim_cur - kPrivateCount) : 3;
}

int copy_up(int fd, int lowest, int& result) noexcept {
  result = ::fcntl(fd, F_DUPFD_CLOEXEC, lowest);
  return result < 0 ? errno : 0;
}

}  // namespace

int claim_descriptors(int channel, unsigned long open_files, PrivateDescriptors& result) noexcept {
  const int lowest = first_private_number();
  if (const int error = copy_up(channel, lowest, result.channel)) return error;
  ::close(channel);
  for (int fd = 0; fd < 3; ++fd) {
    if (const int error = copy_up(fd, lowest, result.standard[fd])) return error;
  }
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return errno;
  limit.rlim_max = std::min<rlim_t>(limit.rlim_max, open_files);
  limit.rlim_cur = limit.rlim_max;
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? 0 : errno;
}

int restore_standard(const PrivateDescriptors& descriptors) noexcept {
  for (int fd = 0; fd < 3; ++fd) {
    // dup2 each time costs no more than finding out whether it is needed, and leaves no gap.
    while (::dup2(descriptors.standard[fd], fd) < 0) {
      if (errno != EINTR && errno != EBUSY) return errno;
    }
  }
  for (int fd = 1; fd < 3; ++fd) {
    const int flags = ::fcntl(fd, F_GETFL);
    if (flags >= 0 && (flags & O_NONBLOCK) != 0) ::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  }
  return 0;
}

bool write_all(int fd, std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t written = ::write(fd, text.data(), text.size());
    if (written >= 0) {
      text.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd wait{fd, POLLOUT, 0};
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace rookery::repl

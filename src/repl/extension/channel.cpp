// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/channel.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <span>

#include "sys/cpu_pin.h"
#include "sys/unique_fd.h"
#include "wire/message.h"

namespace rookery::repl {

namespace {

void wait_for(int channel, short events) noexcept {
  pollfd wait{channel, events, 0};
  ::poll(&wait, 1, -1);
}

// The first descriptor of a packet; the others, which no request has, are closed.
sys::UniqueFd take_descriptor(msghdr& message) noexcept {
  sys::UniqueFd first;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
      sys::UniqueFd owner(fd);
      if (!first) first = std::move(owner);
    }
  }
  return first;
}

// Reads a whole memfd, whatever its file position. Returns 0 or an errno.
int read_source(int fd, std::string& source) {
  struct stat status {};
  if (::fstat(fd, &status) != 0) return errno;
  if (!S_ISREG(status.st_mode)) return EINVAL;
  if (status.st_size > static_cast<off_t>(kMaxSource)) return EFBIG;
  source.resize(static_cast<std::size_t>(status.st_size));
  std::size_t have = 0;
  while (have < source.size()) {
    const ssize_t got = ::pread(fd, source.data() + have, source.size() - have, static_cast<off_t>(have));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return errno;
    if (got == 0) break;
    have += static_cast<std::size_t>(got);
  }
  source.resize(have);
  return 0;
}

// Fills in the request, or returns false for a packet that is none.
bool decode(std::span<const std::byte> packet, msghdr& message, Request& request) {
  const sys::UniqueFd descriptor = take_descriptor(message);
  if ((message.msg_flags & MSG_TRUNC) != 0) return false;
  const auto parsed = wire::parse(packet);
  if (!parsed || parsed->header.type != wire::Type::kRunCode) return false;
  request.nonce = parsed->header.nonce;
  request.error = 0;
  request.cpu = parsed->header.cpu - 1;
  request.source.assign(parsed->payload);
  if (!request.source.empty()) return true;
  if (descriptor) {
    request.error = read_source(descriptor.get(), request.source);
  } else if ((message.msg_flags & MSG_CTRUNC) != 0) {
    // User code holds as many files open as it may, so the kernel could not install the memfd.
    request.error = EMFILE;
  }
  return true;
}

bool send(int channel, std::span<const std::byte> packet) noexcept {
  while (::send(channel, packet.data(), packet.size(), MSG_NOSIGNAL) < 0) {
    if (errno == EAGAIN) {
      wait_for(channel, POLLOUT);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool prepare_channel(int channel) noexcept {
  // How long a wait is pinned: as long as the server's thread stays with its connection (http_server.h, linger).
  const timeval pinned_wait{0, 20'000};
  return ::setsockopt(channel, SOL_SOCKET, SO_RCVTIMEO, &pinned_wait, sizeof pinned_wait) == 0;
}

Receive receive_request(int channel, Request& request) {
  sys::CpuPin pin;
  pin.to(request.cpu);
  static std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  for (;;) {
    iovec part{buffer, sizeof buffer};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * wire::kMaxDescriptors)];
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control;
    message.msg_controllen = sizeof control;
    const ssize_t size = ::recvmsg(channel, &message, MSG_CMSG_CLOEXEC);
    pin.release();
    if (size == 0) return Receive::kClosed;
    if (size > 0) {
      if (decode({buffer, static_cast<std::size_t>(size)}, message, request)) return Receive::kRequest;
    } else if (errno == EAGAIN) {
      wait_for(channel, POLLIN);
    } else if (errno == ECONNRESET) {
      return Receive::kClosed;
    } else if (errno != EINTR) {
      return Receive::kBroken;
    }
  }
}

bool send_ready(int channel) {
  wire::Writer message(wire::Type::kReplReady, 0);
  return send(channel, message.packet());
}

bool send_finished(int channel, std::uint64_t nonce, std::int32_t return_code, std::uint32_t error) {
  wire::Writer message(wire::Type::kCodeFinished, nonce);
  message.i32(return_code).u32(error);
  return send(channel, message.packet());
}

}  // namespace rookery::repl

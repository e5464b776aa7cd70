// SPDX-License-Identifier: Apache-2.0
#include "sys/socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "sys/error.h"

namespace rookery::sys {

namespace {
constexpr std::size_t kMaxDescriptors = 16;
}

std::pair<UniqueFd, UniqueFd> seqpacket_pair() {
  int ends[2];
  check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

bool send_packet(int socket, std::span<const std::byte> packet, std::span<const int> descriptors) noexcept {
  iovec part{const_cast<std::byte*>(packet.data()), packet.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
  if (!descriptors.empty()) {
    if (descriptors.size() > kMaxDescriptors) {
      errno = EINVAL;
      return false;
    }
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
    std::memcpy(CMSG_DATA(header), descriptors.data(), sizeof(int) * descriptors.size());
  }
  ssize_t sent;
  do {
    sent = ::sendmsg(socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(packet.size());
}

bool send_packet_patiently(int socket, std::span<const std::byte> packet, std::span<const int> descriptors, int patience_ms) noexcept {
  while (!send_packet(socket, packet, descriptors)) {
    if (errno != EAGAIN) return false;
    pollfd fds[] = {{socket, POLLOUT, 0}};
    const int ready = ::poll(fds, 1, patience_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) {
      errno = EAGAIN;
      return false;
    }
  }
  return true;
}

Received receive_packet(int socket, std::span<std::byte> buffer, std::size_t max_descriptors) {
  Received received;
  iovec part{buffer.data(), buffer.size()};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * kMaxDescriptors)] = {};
  if (max_descriptors > 0) {
    message.msg_control = control;
    message.msg_controllen = CMSG_SPACE(sizeof(int) * std::min(max_descriptors, kMaxDescriptors));
  }
  do {
    received.size = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  } while (received.size < 0 && errno == EINTR);
  if (received.size < 0) return received;
  received.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr; header = CMSG_NXTHDR(&message, header)) {
    if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(header) + i * sizeof(int), sizeof fd);
      received.descriptors.emplace_back(fd);
    }
  }
  return received;
}

UniqueFd sealed_memfd(const char* name, std::string_view content) {
  UniqueFd fd(check(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create"));
  while (!content.empty()) {
    const ssize_t written = ::write(fd.get(), content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) throw_errno("write to a memfd");
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  check(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE), "seal a memfd");
  check(static_cast<int>(::lseek(fd.get(), 0, SEEK_SET)), "rewind a memfd");
  return fd;
}

}  // namespace rookery::sys

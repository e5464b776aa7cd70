// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "sys/unique_fd.h"

namespace rookery::sys {

// Two connected AF_UNIX SOCK_SEQPACKET ends, close-on-exec. Throws std::system_error.
std::pair<UniqueFd, UniqueFd> seqpacket_pair();

// Sends one packet with descriptors, never blocking (MSG_DONTWAIT | MSG_NOSIGNAL).
// True when it was sent whole; false with errno set (EAGAIN: the peer does not read) otherwise.
[[nodiscard]] bool send_packet(int socket, std::span<const std::byte> packet, std::span<const int> descriptors = {}) noexcept;

// As send_packet, but where the peer is behind it waits for it, at most `patience_ms`.
[[nodiscard]] bool send_packet_patiently(int socket, std::span<const std::byte> packet, std::span<const int> descriptors,
                                         int patience_ms) noexcept;

struct Received {
  // Bytes of the packet; 0: the peer closed; -1: errno says why (EAGAIN: nothing there).
  ssize_t size = -1;
  bool truncated = false;  // the packet was larger than the buffer: to be dropped
  std::vector<UniqueFd> descriptors;
};

// Receives one packet without blocking. With max_descriptors 0 the kernel drops any that were sent.
[[nodiscard]] Received receive_packet(int socket, std::span<std::byte> buffer, std::size_t max_descriptors = 0);

// A sealed (unchangeable) memfd that holds `content`, readable from its start. Throws std::system_error.
UniqueFd sealed_memfd(const char* name, std::string_view content);

}  // namespace rookery::sys

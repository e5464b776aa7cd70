// SPDX-License-Identifier: Apache-2.0
#include "telemetry/channel.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include "sys/socket.h"

namespace rookery::telemetry {

namespace {

constexpr std::size_t kHeader = 2;

}  // namespace

void Sender::send(Signal signal, std::string_view records, std::uint8_t count) noexcept {
  // On the stack: this must not fail for want of memory where nobody expects it to.
  std::array<std::byte, kMaxRecords + kHeader> packet;
  if (records.size() <= kMaxRecords) {
    packet[0] = static_cast<std::byte>(signal);
    packet[1] = static_cast<std::byte>(count);
    std::memcpy(packet.data() + kHeader, records.data(), records.size());
    if (sys::send_packet(channel_.get(), std::span(packet).first(records.size() + kHeader))) return;
  }
  counts_.add(&ExportCounts::unsent, signal, count);
}

std::optional<Arrival> receive(int channel) {
  static thread_local std::vector<std::byte> buffer(kMaxRecords + kHeader);
  for (;;) {
    pollfd ready{channel, POLLIN, 0};
    if (::poll(&ready, 1, -1) < 0) continue;
    const sys::Received received = sys::receive_packet(channel, buffer);
    if (received.size == 0 || (received.size < 0 && errno != EAGAIN)) return std::nullopt;
    if (received.size <= static_cast<ssize_t>(kHeader) || received.truncated) continue;
    const auto signal = static_cast<Signal>(buffer[0]);
    if (name(signal).empty()) continue;
    return Arrival{signal, static_cast<std::uint8_t>(buffer[1]),
                   std::string(reinterpret_cast<const char*>(buffer.data()) + kHeader, static_cast<std::size_t>(received.size) - kHeader)};
  }
}

}  // namespace rookery::telemetry

// SPDX-License-Identifier: Apache-2.0
#include "telemetry/channel.h"

#include <poll.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "sys/socket.h"

namespace rookery::telemetry {

namespace {

constexpr std::size_t kHeader = 2;

std::size_t index(Signal signal) noexcept { return signal == Signal::kTraces ? 0 : signal == Signal::kMetrics ? 1 : 2; }

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
  dropped_[index(signal)].fetch_add(count, std::memory_order_relaxed);
}

Sender::State Sender::state() noexcept {
  const std::lock_guard lock(mutex_);
  for (;;) {
    ExportCounts counts;
    const sys::Received received = sys::receive_packet(channel_.get(), std::as_writable_bytes(std::span(&counts, 1)));
    if (received.size == static_cast<ssize_t>(sizeof counts) && !received.truncated) {
      told_ = counts;
      continue;
    }
    if (received.size == 0 || (received.size < 0 && errno != EAGAIN)) up_ = false;
    if (received.size <= 0) break;
  }
  State state{told_, up_};
  for (std::size_t i = 0; i < dropped_.size(); ++i) state.counts.dropped[i] += dropped_[i].load(std::memory_order_relaxed);
  return state;
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

void tell(int channel, const ExportCounts& counts) noexcept {
  // Nobody reads for a moment: the next numbers hold these as well.
  [[maybe_unused]] const bool sent = sys::send_packet(channel, std::as_bytes(std::span(&counts, 1)));
}

}  // namespace rookery::telemetry

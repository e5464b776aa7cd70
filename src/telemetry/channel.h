// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "sys/unique_fd.h"
#include "telemetry/otlp.h"

// Between whoever has something to tell (server, warden) and the exporter: a SEQPACKET channel. A packet is the signal's
// letter, a byte that says how many records, and their JSON, separated by commas. The other way come the exporter's numbers. The channel's buffer is the bound: what
// does not fit is dropped and counted, and nobody waits.
namespace rookery::telemetry {

// Bytes of the JSON of one packet; a longer one is dropped.
inline constexpr std::size_t kMaxRecords = 48 * 1024;

// What became of records, by signal in the order of kSignals.
struct ExportCounts {
  std::array<std::uint64_t, 3> exported{};
  std::array<std::uint64_t, 3> dropped{};  // no room in the queue
  std::array<std::uint64_t, 3> failed{};   // refused by the receiver, or given up
};

// The telling end. Thread-safe.
class Sender {
 public:
  explicit Sender(sys::UniqueFd channel) noexcept : channel_(std::move(channel)) {}

  // `count` records, at most 255.
  void send(Signal signal, std::string_view records, std::uint8_t count = 1) noexcept;

  [[nodiscard]] int channel() const noexcept { return channel_.get(); }

  // The exporter's numbers as it told them last, with what was dropped here; `up`: whether there is an exporter.
  struct State {
    ExportCounts counts;
    bool up = true;
  };
  [[nodiscard]] State state() noexcept;

 private:
  sys::UniqueFd channel_;
  std::array<std::atomic<std::uint64_t>, 3> dropped_{};
  std::mutex mutex_;
  ExportCounts told_;
  bool up_ = true;
};

// The exporter's end.
struct Arrival {
  Signal signal{};
  std::uint8_t count = 0;
  std::string records;
};
// The next packet, waiting for it; nullopt when all telling ends are closed. What is malformed is left out.
[[nodiscard]] std::optional<Arrival> receive(int channel);
void tell(int channel, const ExportCounts& counts) noexcept;

}  // namespace rookery::telemetry

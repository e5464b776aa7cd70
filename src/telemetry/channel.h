// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "sys/unique_fd.h"
#include "telemetry/export_counts.h"
#include "telemetry/otlp.h"

// From whoever has something to tell (server, warden) to the exporter: a SEQPACKET channel. A packet is the signal's letter,
// a byte that says how many records, and their JSON, separated by commas. The channel's buffer is the bound: what does not
// fit is dropped and counted, and nobody waits. Nothing comes the other way.
namespace rookery::telemetry {

// Bytes of the JSON of one packet; a longer one is dropped.
inline constexpr std::size_t kMaxRecords = 48 * 1024;

// The telling end. Thread-safe.
class Sender {
 public:
  // `counts` gets what was dropped here, and outlives the sender.
  Sender(sys::UniqueFd channel, ExportCounts& counts) noexcept : channel_(std::move(channel)), counts_(counts) {}

  // `count` records, at most 255.
  void send(Signal signal, std::string_view records, std::uint8_t count = 1) noexcept;

  [[nodiscard]] int channel() const noexcept { return channel_.get(); }

 private:
  sys::UniqueFd channel_;
  ExportCounts& counts_;
};

// The exporter's end.
struct Arrival {
  Signal signal{};
  std::uint8_t count = 0;
  std::string records;
};
// The next packet, waiting for it; nullopt when all telling ends are closed. What is malformed is left out.
[[nodiscard]] std::optional<Arrival> receive(int channel);

}  // namespace rookery::telemetry

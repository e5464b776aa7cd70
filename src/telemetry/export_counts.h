// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "sys/unique_fd.h"
#include "telemetry/otlp.h"

// What became of records. The numbers lie in memory that the warden, the server and one exporter after the other share, so
// that they outlive an exporter that dies.
namespace rookery::telemetry {

struct ExportCounts {
  using Row = std::array<std::atomic<std::uint64_t>, std::size(kSignals)>;  // by signal in the order of kSignals

  Row unsent{};    // did not fit into the channel
  Row received{};  // by an exporter; each becomes one of the rest
  Row exported{};
  Row dropped{};  // no room in the exporter's queue, or lost with an exporter that ended
  Row failed{};   // refused by the receiver, or given up

  void add(Row ExportCounts::* row, Signal signal, std::uint64_t count) noexcept {
    (this->*row)[index(signal)].fetch_add(count, std::memory_order_relaxed);
  }
  // An exporter ended: what it had and had not yet passed on is dropped.
  void drop_what_was_received() noexcept;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);  // so it works between processes

// Numbers of zero, of a size that nobody can change. Throws std::system_error.
[[nodiscard]] sys::UniqueFd make_export_counts();
// Those numbers, for as long as this process lives. Throws std::system_error.
[[nodiscard]] ExportCounts& map_export_counts(int fd);

}  // namespace rookery::telemetry

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace rookery::server::http {

// How long one transfer may wait for its peer: at most `stall` without a byte, and in all `floor`, or as
// long as the bytes so far take at `rate`. Only waiting counts, not what we do with the bytes.
struct Pace {
  using Milliseconds = std::chrono::milliseconds;
  using Microseconds = std::chrono::microseconds;

  Milliseconds stall;
  Milliseconds floor;
  std::uint64_t rate;  // bytes a second, > 0

  Microseconds waited{0};
  std::uint64_t bytes = 0;

  // For the next wait; zero or less: the time is over.
  [[nodiscard]] Milliseconds allowance() const noexcept {
    const Microseconds by_rate = std::chrono::seconds(bytes / rate);
    const Microseconds left = std::max(Microseconds(floor), by_rate) - waited;
    return std::min(stall, std::chrono::ceil<Milliseconds>(left));
  }
};

}  // namespace rookery::server::http

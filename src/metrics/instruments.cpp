// SPDX-License-Identifier: Apache-2.0
#include "metrics/instruments.h"

#include <algorithm>

namespace rookery::metrics {

void Histogram::observe(std::chrono::steady_clock::duration duration) noexcept {
  const double seconds = std::chrono::duration<double>(duration).count();
  // A bucket holds what is at most its bound.
  const auto at = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  buckets_[static_cast<std::size_t>(at)].fetch_add(1, std::memory_order_relaxed);
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(duration).count();
  sum_us_.fetch_add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, microseconds)), std::memory_order_relaxed);
}

Histogram::Values Histogram::values() const noexcept {
  Values values;
  for (std::size_t i = 0; i < buckets_.size(); ++i) {
    values.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    values.count += values.buckets[i];
  }
  values.sum = static_cast<double>(sum_us_.load(std::memory_order_relaxed)) / 1e6;
  return values;
}

}  // namespace rookery::metrics

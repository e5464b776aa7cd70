// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string_view>

// What is counted while requests are served: relaxed atomics, so that counting costs a call a few nanoseconds. Readers get
// each number as it is at that moment; numbers of one snapshot may be a request apart.
namespace rookery::metrics {

class Counter {
 public:
  void add(std::uint64_t count = 1) noexcept { value_.fetch_add(count, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t value() const noexcept { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> value_ = 0;
};

// One counter for each of a fixed list of label values (a constexpr array of std::string_view); the last one takes what is
// not in the list.
template <const auto& kValues>
class Counters {
 public:
  void add(std::string_view value, std::uint64_t count = 1) noexcept { counters_[index(value)].add(count); }
  [[nodiscard]] static constexpr std::size_t size() noexcept { return kValues.size(); }
  [[nodiscard]] static constexpr std::string_view label(std::size_t i) noexcept { return kValues[i]; }
  [[nodiscard]] std::uint64_t value(std::size_t i) const noexcept { return counters_[i].value(); }
  [[nodiscard]] static constexpr std::size_t index(std::string_view value) noexcept {
    std::size_t i = 0;
    while (i + 1 < kValues.size() && kValues[i] != value) ++i;
    return i;
  }

 private:
  std::array<Counter, kValues.size()> counters_;
};

// Of durations. Buckets from half a millisecond to ten minutes.
class Histogram {
 public:
  static constexpr std::array<double, 17> kBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25,
                                                     0.5,    1,     2.5,    5,     10,   30,    120,  600};  // seconds
  struct Values {
    std::array<std::uint64_t, kBounds.size() + 1> buckets{};  // not cumulative; the last one is beyond all bounds
    std::uint64_t count = 0;
    double sum = 0;  // seconds
  };

  void observe(std::chrono::steady_clock::duration duration) noexcept;
  [[nodiscard]] Values values() const noexcept;

 private:
  std::array<std::atomic<std::uint64_t>, kBounds.size() + 1> buckets_{};
  std::atomic<std::uint64_t> sum_us_ = 0;
};

}  // namespace rookery::metrics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace rookery::warden {

// How many jails to keep ready: the configured number, more for a while after a burst that found none ready.
class Demand {
 public:
  using Clock = std::chrono::steady_clock;
  static constexpr std::uint32_t kGrowth = 4;  // at most so many times the configured number
  static constexpr auto kMemory = std::chrono::seconds(10);

  explicit Demand(std::uint32_t configured) : configured_(configured), ahead_(configured) {}

  // A lease that had to wait.
  void missed(Clock::time_point now) noexcept {
    ahead_ = std::min(ahead_ + std::max(configured_ / 4, 1u), configured_ * kGrowth);
    until_ = now + kMemory;
  }
  // Looked at on a timer: a burst that is over is forgotten. True if that changed the number.
  bool settle(Clock::time_point now) noexcept {
    if (ahead_ == configured_ || now < until_) return false;
    ahead_ = configured_;
    return true;
  }
  [[nodiscard]] std::uint32_t ahead() const noexcept { return ahead_; }
  // So few ready that more are wanted at once, not only when it is quiet.
  [[nodiscard]] bool urgent(std::size_t ready) const noexcept { return ready <= ahead_ / 4; }
  [[nodiscard]] bool grown() const noexcept { return ahead_ != configured_; }
  [[nodiscard]] Clock::time_point until() const noexcept { return until_; }

 private:
  std::uint32_t configured_;
  std::uint32_t ahead_;
  Clock::time_point until_{};
};

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rookery::warden {

// How long the steps of making one jail took, for `rookery check --timing`. Steps of the jail's own first process run while
// the warden does something else; the table says whose each is.
class SetupTimes {
 public:
  // Set by `check` for the processes it starts.
  static constexpr const char* kVariable = "ROOKERY_SETUP_TIMES";

  explicit SetupTimes(bool wanted) noexcept : wanted_(wanted) {}

  // Without effect where they are not wanted. The time since the last lap, or since the beginning, as a step of the warden's.
  void lap(std::string_view name);
  // What the jail's first process told: lines of name, tab, nanoseconds. From inside a jail that is being set up: bounded, and
  // what is not such a line is left out.
  void add_told(std::string_view lines);

  // A line each: "setup", the name, nanoseconds, separated by tabs; the last is "total".
  [[nodiscard]] std::string lines() const;

 private:
  using Clock = std::chrono::steady_clock;
  bool wanted_;
  std::vector<std::pair<std::string, long long>> taken_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_ = start_;
};

}  // namespace rookery::warden

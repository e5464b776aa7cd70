// SPDX-License-Identifier: Apache-2.0
#include "warden/setup_times.h"

#include <algorithm>
#include <charconv>

namespace rookery::warden {

namespace {

constexpr std::size_t kMostSteps = 64;

long long nanoseconds(std::chrono::steady_clock::duration time) { return std::chrono::nanoseconds(time).count(); }

}  // namespace

void SetupTimes::lap(std::string_view name) {
  if (!wanted_) return;
  const auto now = Clock::now();
  taken_.emplace_back("warden: " + std::string(name), nanoseconds(now - last_));
  last_ = now;
}

void SetupTimes::add_told(std::string_view lines) {
  while (wanted_ && !lines.empty() && taken_.size() < kMostSteps) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
    const std::size_t tab = line.find('\t');
    long long time = 0;
    if (tab == std::string_view::npos || std::from_chars(line.data() + tab + 1, line.data() + line.size(), time).ec != std::errc()) continue;
    taken_.emplace_back("jail: " + std::string(line.substr(0, tab)), time);
  }
}

std::string SetupTimes::lines() const {
  std::string text;
  const auto add = [&](const std::string& name, long long time) { text += "setup\t" + name + "\t" + std::to_string(time) + "\n"; };
  for (const auto& [name, time] : taken_) add(name, time);
  add("total", nanoseconds(last_ - start_));
  return text;
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "telemetry/channel.h"

namespace rookery::exporter {

// Records on their way out, bounded: who brings one never waits; what does not fit is refused. Thread-safe.
class RecordQueue {
 public:
  using Clock = std::chrono::steady_clock;

  static constexpr std::size_t kMaxRecords = 8192;            // of one signal
  static constexpr std::size_t kMaxBytes = 8 * 1024 * 1024;   // of one signal
  static constexpr std::size_t kBatchRecords = 512;
  static constexpr std::size_t kBatchBytes = 1024 * 1024;
  static constexpr std::chrono::milliseconds kBatchDelay{1000};  // how long a record waits for company

  // False: no room.
  [[nodiscard]] bool push(telemetry::Arrival arrival);

  struct Batch {
    telemetry::Signal signal{};
    std::size_t count = 0;
    std::string records;  // separated by commas
  };
  // The next batch: a full one, or one that has waited for kBatchDelay. Blocks until there is one; nullopt once the queue is
  // closed and empty.
  [[nodiscard]] std::optional<Batch> pop();

  // No record comes any more: what is there goes out at once.
  void close();
  // Waits, at most `duration`; returns early, true, once the queue is closed.
  [[nodiscard]] bool wait_closed(std::chrono::milliseconds duration);

 private:
  struct Lane {
    std::deque<telemetry::Arrival> packets;
    std::size_t records = 0;
    std::size_t bytes = 0;
    Clock::time_point oldest;
  };

  [[nodiscard]] bool due(const Lane& lane, Clock::time_point now) const;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::array<Lane, 3> lanes_;  // in the order of kSignals
  std::size_t next_ = 0;       // lane that is looked at first, so that none starves
  bool closed_ = false;
};

}  // namespace rookery::exporter

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <functional>

#include "exporter/collector.h"
#include "exporter/record_queue.h"
#include "telemetry/export_counts.h"

namespace rookery::exporter {

// Takes batch after batch from the queue to the collector, and each again while that may help: after Retry-After, else
// after a pause that doubles, with some chance in it. A batch that finds nobody for kGiveUp is given up.
class Delivery {
 public:
  static constexpr std::chrono::milliseconds kFirstPause{1000};
  static constexpr std::chrono::milliseconds kLongestPause{30'000};
  static constexpr std::chrono::seconds kGiveUp{300};
  static constexpr std::chrono::seconds kLastMoments{5};  // once the queue is closed

  using Post = std::function<Collector::Answer(telemetry::Signal signal, const std::string& body)>;

  // `counts` gets what becomes of the batches.
  Delivery(RecordQueue& queue, telemetry::Resource resource, telemetry::ExportCounts& counts, Post post)
      : queue_(queue), resource_(std::move(resource)), counts_(counts), post_(std::move(post)) {}

  // Until the queue is closed and empty, or the last moments are over.
  void run();

 private:
  using Clock = std::chrono::steady_clock;

  bool deliver(const RecordQueue::Batch& batch);
  void log_trouble(const RecordQueue::Batch& batch, const Collector::Answer& answer, bool lost);

  RecordQueue& queue_;
  telemetry::Resource resource_;
  telemetry::ExportCounts& counts_;
  Post post_;
  Clock::time_point closed_at_ = Clock::time_point::max();
  bool in_trouble_ = false;
};

}  // namespace rookery::exporter

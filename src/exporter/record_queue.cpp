// SPDX-License-Identifier: Apache-2.0
#include "exporter/record_queue.h"

#include <algorithm>

namespace rookery::exporter {

bool RecordQueue::push(telemetry::Arrival arrival) {
  const auto at = std::find(std::begin(telemetry::kSignals), std::end(telemetry::kSignals), arrival.signal) - std::begin(telemetry::kSignals);
  const std::lock_guard lock(mutex_);
  Lane& lane = lanes_[static_cast<std::size_t>(at)];
  if (closed_ || lane.records >= kMaxRecords || lane.bytes + arrival.records.size() > kMaxBytes) return false;
  const bool first = lane.packets.empty();
  if (first) lane.oldest = Clock::now();
  lane.records += arrival.count;
  lane.bytes += arrival.records.size();
  lane.packets.push_back(std::move(arrival));
  if (first || lane.records >= kBatchRecords || lane.bytes >= kBatchBytes) changed_.notify_all();
  return true;
}

bool RecordQueue::due(const Lane& lane, Clock::time_point now) const {
  if (lane.packets.empty()) return false;
  return closed_ || lane.records >= kBatchRecords || lane.bytes >= kBatchBytes || now - lane.oldest >= kBatchDelay;
}

std::optional<RecordQueue::Batch> RecordQueue::pop() {
  std::unique_lock lock(mutex_);
  for (;;) {
    const auto now = Clock::now();
    auto until = Clock::time_point::max();
    for (std::size_t i = 0; i < lanes_.size(); ++i) {
      const std::size_t at = (next_ + i) % lanes_.size();
      Lane& lane = lanes_[at];
      if (!due(lane, now)) {
        if (!lane.packets.empty()) until = std::min(until, lane.oldest + kBatchDelay);
        continue;
      }
      Batch batch{telemetry::kSignals[at], 0, {}};
      while (!lane.packets.empty() && batch.count < kBatchRecords && batch.records.size() < kBatchBytes) {
        const telemetry::Arrival& packet = lane.packets.front();
        if (batch.count > 0) batch.records += ',';
        batch.records += packet.records;
        batch.count += packet.count;
        lane.records -= packet.count;
        lane.bytes -= packet.records.size();
        lane.packets.pop_front();
      }
      lane.oldest = now;
      next_ = at + 1;
      return batch;
    }
    if (closed_) return std::nullopt;
    if (until == Clock::time_point::max()) {
      changed_.wait(lock);
    } else {
      changed_.wait_until(lock, until);
    }
  }
}

void RecordQueue::close() {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  changed_.notify_all();
}

bool RecordQueue::wait_closed(std::chrono::milliseconds duration) {
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, duration, [&] { return closed_; });
}

}  // namespace rookery::exporter

// SPDX-License-Identifier: Apache-2.0
#include "exporter/delivery.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "log/log.h"
#include "util/random.h"

namespace rookery::exporter {

namespace {

// Between half of it and all of it, so that many exporters do not come back at the same moment.
std::chrono::milliseconds with_chance(std::chrono::milliseconds pause) {
  return pause / 2 + std::chrono::milliseconds(util::random_u64() % static_cast<std::uint64_t>(pause.count() / 2 + 1));
}

}  // namespace

void Delivery::run() {
  while (const auto batch = queue_.pop()) {
    const bool taken = deliver(*batch);
    counts_.add(taken ? &telemetry::ExportCounts::exported : &telemetry::ExportCounts::failed, batch->signal, batch->count);
    if (Clock::now() - kLastMoments > closed_at_) return;
  }
}

bool Delivery::deliver(const RecordQueue::Batch& batch) {
  const std::string body = telemetry::request_body(batch.signal, resource_, batch.records);
  const auto give_up = Clock::now() + kGiveUp;
  std::chrono::milliseconds pause = kFirstPause;
  for (;;) {
    const Collector::Answer answer = post_(batch.signal, body);
    if (answer.kind == Collector::Answer::Kind::kTaken) {
      if (std::exchange(in_trouble_, false)) log::info("telemetry is exported again");
      return true;
    }
    const auto wait = answer.retry_after ? std::chrono::milliseconds(*answer.retry_after) : with_chance(pause);
    const bool lost = answer.kind == Collector::Answer::Kind::kRefused || Clock::now() + wait > give_up;
    log_trouble(batch, answer, lost);
    if (lost) return false;
    pause = std::min(pause * 2, kLongestPause);
    if (!queue_.wait_closed(wait)) continue;
    if (closed_at_ == Clock::time_point::max()) closed_at_ = Clock::now();
    // The queue is closed, so the wait above no longer waits. What cannot be tried again in the last moments is lost.
    const auto left = kLastMoments - std::chrono::seconds(1) - (Clock::now() - closed_at_);
    if (left <= Clock::duration::zero() || (answer.retry_after && wait > left)) return false;
    std::this_thread::sleep_for(answer.retry_after ? wait : std::min<std::chrono::milliseconds>(wait, std::chrono::milliseconds(500)));
  }
}

// Once for a time of trouble, and for each batch that is lost.
void Delivery::log_trouble(const RecordQueue::Batch& batch, const Collector::Answer& answer, bool lost) {
  if (!lost && std::exchange(in_trouble_, true)) return;
  log::warning(lost ? "telemetry is lost" : "telemetry cannot be exported at the moment",
               {{"signal", telemetry::name(batch.signal)}, {"records", static_cast<std::int64_t>(batch.count)}, {"error", answer.error}});
}

}  // namespace rookery::exporter

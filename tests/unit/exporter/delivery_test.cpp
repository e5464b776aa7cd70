// SPDX-License-Identifier: Apache-2.0
#include "exporter/delivery.h"

#include <doctest/doctest.h>

#include <thread>

using namespace rookery;
using namespace rookery::exporter;
using namespace std::chrono_literals;
using telemetry::Signal;

namespace {

telemetry::Arrival arrival(Signal signal, std::string records, std::uint8_t count = 1) { return {signal, count, std::move(records)}; }

}  // namespace

TEST_CASE("a batch is due when it is full, or after a moment") {
  RecordQueue queue;
  CHECK(queue.push(arrival(Signal::kLogs, "1")));
  CHECK(queue.push(arrival(Signal::kLogs, "2,3", 2)));
  const auto start = RecordQueue::Clock::now();
  const auto batch = queue.pop();
  CHECK(RecordQueue::Clock::now() - start > RecordQueue::kBatchDelay - 200ms);
  REQUIRE(batch);
  CHECK(batch->records == "1,2,3");
  CHECK(batch->count == 3);
  for (std::size_t i = 0; i < RecordQueue::kBatchRecords; ++i) CHECK(queue.push(arrival(Signal::kTraces, "x")));
  CHECK(queue.pop()->count == RecordQueue::kBatchRecords);
}

TEST_CASE("the queue has bounds for each signal and forgets nothing it has taken") {
  RecordQueue queue;
  std::size_t taken = 0;
  while (queue.push(arrival(Signal::kTraces, "x"))) ++taken;
  CHECK(taken == RecordQueue::kMaxRecords);
  CHECK(queue.push(arrival(Signal::kLogs, std::string(RecordQueue::kMaxBytes, 'x'))));
  CHECK_FALSE(queue.push(arrival(Signal::kLogs, "x")));
  CHECK(queue.push(arrival(Signal::kMetrics, "x")));
  queue.close();
  CHECK_FALSE(queue.push(arrival(Signal::kMetrics, "x")));
  std::size_t popped = 0;
  while (const auto batch = queue.pop()) popped += batch->count;
  CHECK(popped == taken + 2);
}

TEST_CASE("batches are tried again while that may help, and counted") {
  RecordQueue queue;
  std::vector<std::string> bodies;
  int refusals = 2;
  telemetry::ExportCounts counts;
  Delivery delivery(queue, {"s", "e", "v"}, counts, [&](Signal signal, const std::string& body) -> Collector::Answer {
    bodies.push_back(body);
    if (signal == Signal::kLogs) return {Collector::Answer::Kind::kRefused, 400, std::nullopt, "status 400"};
    if (refusals-- > 0) return {Collector::Answer::Kind::kTryAgain, 503, 0s, "status 503"};
    return {Collector::Answer::Kind::kTaken, 200, std::nullopt, {}};
  });
  CHECK(queue.push(arrival(Signal::kTraces, "{},{}", 2)));
  std::thread sender([&] { delivery.run(); });
  for (int i = 0; i < 500 && counts.exported[0] == 0; ++i) std::this_thread::sleep_for(10ms);
  CHECK(queue.push(arrival(Signal::kLogs, "{}")));
  queue.close();
  sender.join();
  CHECK(counts.exported[0] == 2);
  CHECK(counts.failed[2] == 1);
  REQUIRE(bodies.size() == 4);
  CHECK(bodies[0] == bodies[2]);
}

TEST_CASE("the end is not held up by a receiver that is away") {
  RecordQueue queue;
  telemetry::ExportCounts counts;
  Delivery delivery(queue, {"s", "e", "v"}, counts, [](Signal, const std::string&) -> Collector::Answer { return {Collector::Answer::Kind::kTryAgain, 0, 60s, "away"}; });
  CHECK(queue.push(arrival(Signal::kTraces, "{}")));
  CHECK(queue.push(arrival(Signal::kLogs, "{}")));
  const auto start = RecordQueue::Clock::now();
  queue.close();
  delivery.run();
  CHECK(RecordQueue::Clock::now() - start < Delivery::kLastMoments + 2s);
}

TEST_CASE("Retry-After is a number of seconds or a date, within reason") {
  const auto now = std::chrono::system_clock::from_time_t(784111777);  // Sun, 06 Nov 1994 08:49:37 GMT
  CHECK(parse_retry_after("0", now) == 0s);
  CHECK(parse_retry_after("120", now) == 120s);
  CHECK(parse_retry_after("9999999", now) == 3600s);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:47 GMT", now) == 10s);
  CHECK(parse_retry_after("Sun, 06 Nov 1994 08:49:27 GMT", now) == 0s);
  for (const char* text : {"", "soon", "1.5", "12x", "Sun, 06 Nov 1994", "99999999999999999999999"}) CHECK_MESSAGE(!parse_retry_after(text, now), text);
}

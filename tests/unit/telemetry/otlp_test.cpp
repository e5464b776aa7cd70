// SPDX-License-Identifier: Apache-2.0
#include "telemetry/otlp.h"

#include <doctest/doctest.h>
#include <rapidjson/document.h>
#include <sys/socket.h>
#include <unistd.h>

#include "sys/socket.h"
#include "telemetry/channel.h"

using namespace rookery;
using namespace rookery::telemetry;

namespace {

rapidjson::Document parsed(const std::string& text) {
  rapidjson::Document document;
  document.Parse(text.c_str());
  REQUIRE_FALSE(document.HasParseError());
  return document;
}

const Time kTime(std::chrono::seconds(1'700'000'000));
const Resource kResource{"a \"b\"", "test", "1.2.3"};

}  // namespace

TEST_CASE("requests are JSON of the right shape whatever the texts hold") {
  Span span;
  span.trace_id = std::string(32, 'a');
  span.span_id = std::string(16, 'b');
  span.name = "x\"\n";
  span.start = kTime;
  span.end = kTime + std::chrono::milliseconds(1);
  span.failed = true;
  const std::string nasty = "\"}]\n\xff";
  span.attributes = {{"text", nasty}, {"count", std::int64_t{-1}}, {"part", 0.5}, {"none", ""}};
  const auto body = parsed(request_body(Signal::kTraces, kResource, span_json(span) + "," + span_json(span)));
  const auto& spans = body["resourceSpans"][0]["scopeSpans"][0]["spans"];
  REQUIRE(spans.Size() == 2);
  CHECK(std::string(spans[0]["startTimeUnixNano"].GetString()) == "1700000000000000000");
  CHECK(std::string(spans[0]["endTimeUnixNano"].GetString()) == "1700000000001000000");
  CHECK(spans[0]["attributes"].Size() == 3);
  CHECK(std::string(spans[0]["attributes"][1]["value"]["intValue"].GetString()) == "-1");
  CHECK(spans[0]["status"]["code"].GetInt() == 2);
  CHECK_FALSE(spans[0].HasMember("parentSpanId"));
  CHECK(std::string(body["resourceSpans"][0]["resource"]["attributes"][0]["value"]["stringValue"].GetString()) == "a \"b\"");
}

TEST_CASE("a log record carries its trace as an id, not as an attribute") {
  const log::Record record{log::Level::kWarning, "init", "limit reached", {{"limit", "memory"}, {"trace_id", "00112233445566778899aabbccddeeff"}}};
  const auto body = parsed(request_body(Signal::kLogs, kResource, log_json(record, kTime)));
  const auto& entry = body["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0];
  CHECK(entry["severityNumber"].GetInt() == 13);
  CHECK(std::string(entry["traceId"].GetString()) == "00112233445566778899aabbccddeeff");
  CHECK(entry["attributes"].Size() == 2);
}

TEST_CASE("a histogram's buckets are one more than its bounds and sum up to its count") {
  metrics::Histogram histogram;
  for (const int ms : {0, 1, 7, 70'000, 900'000}) histogram.observe(std::chrono::milliseconds(ms));
  const metrics::Family family{"x_seconds", metrics::Kind::kHistogram, "s", "Help.", {{{{"tool", "a"}}, histogram.values()}}};
  const auto body = parsed(request_body(Signal::kMetrics, kResource, metric_json(family, kTime, kTime)));
  const auto& point = body["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]["histogram"]["dataPoints"][0];
  CHECK(point["bucketCounts"].Size() == point["explicitBounds"].Size() + 1);
  std::uint64_t sum = 0;
  for (const auto& count : point["bucketCounts"].GetArray()) sum += std::stoull(count.GetString());
  CHECK(sum == 5);
  CHECK(std::string(point["count"].GetString()) == "5");
  CHECK(point["sum"].GetDouble() == doctest::Approx(970.008));
  const std::string text = metrics::prometheus_text({family});
  CHECK(text.find("x_seconds_bucket{tool=\"a\",le=\"0.001\"} 2\n") != std::string::npos);
  CHECK(text.find("x_seconds_bucket{tool=\"a\",le=\"+Inf\"} 5\nx_seconds_sum{tool=\"a\"} 970.008\nx_seconds_count{tool=\"a\"} 5\n") != std::string::npos);
}

TEST_CASE("label values cannot end their line or their quotes") {
  const metrics::Family family{"x", metrics::Kind::kGauge, "1", "Help.", {{{{"l", "a\"b\\c\nd"}}, 1.0}}};
  CHECK(metrics::prometheus_text({family}) == "# HELP x Help.\n# TYPE x gauge\nx{l=\"a\\\"b\\\\c\\nd\"} 1\n");
}

TEST_CASE("a sender never waits: what does not fit is counted") {
  auto [here, there] = sys::seqpacket_pair();
  ExportCounts counts;
  Sender sender(std::move(here), counts);
  sender.send(Signal::kLogs, std::string(kMaxRecords + 1, 'x'));
  CHECK(counts.unsent[2] == 1);
  const std::string record(10'000, 'x');
  unsigned sent = 0;
  while (counts.unsent[0] == 0) sender.send(Signal::kTraces, record, 3), ++sent;
  CHECK(sent > 3);
  CHECK(sent < 1000);
  CHECK(counts.unsent[0] == 3);
  const auto arrival = receive(there.get());
  REQUIRE(arrival);
  CHECK(arrival->signal == Signal::kTraces);
  CHECK(arrival->count == 3);
  CHECK(arrival->records == record);
  there.reset();
  sender.send(Signal::kLogs, "x");
  CHECK(counts.unsent[2] == 2);
}

TEST_CASE("counts outlive the process that counts, and what it had is dropped") {
  const sys::UniqueFd shared = make_export_counts();
  ExportCounts& counts = map_export_counts(shared.get());
  ExportCounts& others = map_export_counts(shared.get());
  others.add(&ExportCounts::unsent, Signal::kTraces, 7);
  others.add(&ExportCounts::received, Signal::kTraces, 10);
  others.add(&ExportCounts::exported, Signal::kTraces, 4);
  others.add(&ExportCounts::failed, Signal::kTraces, 2);
  others.add(&ExportCounts::dropped, Signal::kTraces, 1);
  for (int ends = 0; ends < 2; ++ends) {  // the second had nothing
    counts.drop_what_was_received();
    CHECK(counts.dropped[0] == 4);
  }
  CHECK(counts.unsent[0] == 7);
  CHECK(counts.dropped[1] == 0);
  CHECK(::ftruncate(shared.get(), 0) != 0);
}

TEST_CASE("what is not a packet of ours is left out") {
  auto [here, there] = sys::seqpacket_pair();
  for (const char* bytes : {"x\1{}", "t", "t\1"}) REQUIRE(::send(here.get(), bytes, std::char_traits<char>::length(bytes), 0) > 0);
  REQUIRE(::send(here.get(), "m\2{},{}", 7, 0) == 7);
  const auto arrival = receive(there.get());
  REQUIRE(arrival);
  CHECK(arrival->signal == Signal::kMetrics);
  CHECK(arrival->records == "{},{}");
  here.reset();
  CHECK_FALSE(receive(there.get()));
}

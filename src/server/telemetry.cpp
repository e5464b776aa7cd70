// SPDX-License-Identifier: Apache-2.0
#include "server/telemetry.h"

#include "log/log.h"
#include "telemetry/otlp.h"
#include "util/random.h"

namespace rookery::server {

using std::chrono::system_clock;

Telemetry::Telemetry(const util::Settings& settings, sys::UniqueFd channel, const sys::UniqueFd& counts)
    : counts_(telemetry::map_export_counts(counts.get())), sender_(std::move(channel), counts_), interval_(settings.telemetry_metrics_interval_s) {}

void Telemetry::end() {
  log::observe(nullptr);
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  stopped_.notify_all();
  thread_.join();
}

void Telemetry::follow_log() {
  log::observe([this](const log::Record& record) { sender_.send(telemetry::Signal::kLogs, telemetry::log_json(record, system_clock::now())); });
}

void Telemetry::request(const http::AccessRecord& record) {
  if (record.notes == nullptr || record.head == nullptr || !record.notes->trace.sampled || record.notes->trace.trace_id.empty()) return;
  const http::RequestNotes& notes = *record.notes;
  // Spans are measured with the steady clock and told in the wall clock's terms.
  const auto to_wall = [wall = system_clock::now(), steady = http::RequestNotes::Clock::now()](http::RequestNotes::Clock::time_point at) {
    return wall - std::chrono::duration_cast<system_clock::duration>(steady - at);
  };
  const std::string route = record.route != nullptr ? http::path_template(record.route->route) : std::string();
  const std::string method(http::name(record.head->method));
  telemetry::Span whole;
  whole.trace_id = notes.trace.trace_id;
  whole.span_id = util::random_hex(16);
  whole.parent_id = notes.trace.parent_id;
  whole.name = route.empty() ? method : method + " " + route;
  whole.server = true;
  whole.failed = record.status >= 500;
  whole.start = to_wall(notes.arrived);
  whole.end = whole.start + std::chrono::microseconds(record.duration_us);
  whole.attributes = {{"http.request.method", method},
                      {"http.route", route},
                      {"http.response.status_code", std::int64_t{record.status}},
                      {"rookery.request_id", notes.request_id},
                      {"rookery.session_id", record.route != nullptr ? log::shortened(record.route->session_id) : std::string_view()},
                      {"rookery.tool", notes.tool},
                      {"rookery.outcome", notes.outcome},
                      {"rookery.limit", notes.limit}};
  std::string spans = telemetry::span_json(whole);
  std::uint8_t count = 1;
  for (const http::RequestNotes::Stage& stage : notes.stages) {
    telemetry::Span part;
    part.trace_id = whole.trace_id;
    part.span_id = util::random_hex(16);
    part.parent_id = whole.span_id;
    part.name = stage.name;
    part.start = to_wall(stage.start);
    part.end = to_wall(stage.end);
    spans += ',';
    spans += telemetry::span_json(part);
    ++count;
  }
  sender_.send(telemetry::Signal::kTraces, spans, count);
}

void Telemetry::follow_metrics(std::function<std::vector<metrics::Family>()> metrics) {
  metrics_ = std::move(metrics);
  thread_ = std::thread([this] { run(); });
}

void Telemetry::tell_metrics() {
  const telemetry::Time now = system_clock::now();
  for (const metrics::Family& family : metrics_()) {
    if (!family.points.empty()) sender_.send(telemetry::Signal::kMetrics, telemetry::metric_json(family, started_, now));
  }
}

void Telemetry::run() {
  std::unique_lock lock(mutex_);
  do {
    lock.unlock();
    tell_metrics();
    lock.lock();
  } while (!stopped_.wait_for(lock, interval_, [&] { return stop_; }));
  lock.unlock();
  tell_metrics();
}

}  // namespace rookery::server

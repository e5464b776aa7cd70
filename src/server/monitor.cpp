// SPDX-License-Identifier: Apache-2.0
#include "server/monitor.h"

#include <algorithm>
#include <limits>

namespace rookery::server {

namespace {

using metrics::Family;
using metrics::Kind;
using metrics::Point;

constexpr std::chrono::milliseconds kWardenPatience{50};

Family single(std::string_view name, Kind kind, std::string_view unit, std::string_view help, double value) {
  return {name, kind, unit, help, {Point{{}, value}}};
}
Family gauge(std::string_view name, std::string_view unit, std::string_view help, double value) {
  return single(name, Kind::kGauge, unit, help, value);
}
Family counter(std::string_view name, std::string_view unit, std::string_view help, std::uint64_t value) {
  return single(name, Kind::kCounter, unit, help, static_cast<double>(value));
}
Family histogram(std::string_view name, std::string_view help, const metrics::Histogram& values) {
  return {name, Kind::kHistogram, "s", help, {Point{{}, values.values()}}};
}

template <const auto& kValues>
Family counters(std::string_view name, std::string_view unit, std::string_view help, std::string_view label,
                const metrics::Counters<kValues>& values) {
  Family family{name, Kind::kCounter, unit, help, {}};
  for (std::size_t i = 0; i < values.size(); ++i) family.points.push_back({{{label, std::string(values.label(i))}}, static_cast<double>(values.value(i))});
  return family;
}

void add_calls(std::vector<Family>& all, const ServerMetrics& m) {
  Family calls{"rookery_calls_total", Kind::kCounter, "{call}", "Tool calls by tool and outcome.", {}};
  Family durations{"rookery_call_duration_seconds", Kind::kHistogram, "s", "Time that tool calls ran, without their wait.", {}};
  for (std::size_t tool = 0; tool < label::kTools.size(); ++tool) {
    const std::string name(label::kTools[tool]);
    for (std::size_t i = 0; i < label::kOutcomes.size(); ++i) {
      calls.points.push_back({{{"tool", name}, {"outcome", std::string(label::kOutcomes[i])}}, static_cast<double>(m.calls[tool].value(i))});
    }
    durations.points.push_back({{{"tool", name}}, m.call_duration[tool].values()});
  }
  all.push_back(std::move(calls));
  all.push_back(std::move(durations));
  all.push_back(histogram("rookery_call_queue_wait_seconds", "Time that tool calls waited for earlier calls of their session.", m.queue_wait));
  all.push_back(counters("rookery_limit_hits_total", "{hit}", "Calls that met a limit, by limit.", "limit", m.limit_hits));
  all.push_back(counter("rookery_interpreter_restarts_total", "{restart}", "Interpreters of sessions that were started again.", m.interpreter_restarts.value()));
  all.push_back(counter("rookery_jail_rebuilds_total", "{rebuild}", "Jails of sessions that were built again.", m.jail_rebuilds.value()));
  all.push_back(counters("rookery_policy_violations_total", "{violation}", "What was tried and is not allowed, as far as the server notices.", "kind", m.violations));
}

// Only what has occurred: most of the combinations never do.
void add_requests(std::vector<Family>& all, const ServerMetrics& m) {
  Family requests{"rookery_http_requests_total", Kind::kCounter, "{request}", "HTTP requests by route and status.", {}};
  Family durations{"rookery_http_request_duration_seconds", Kind::kHistogram, "s", "Time from a request's head to the end of its response.", {}};
  for (std::size_t route = 0; route <= http::kRouteCount; ++route) {
    const std::string name(route < http::kRouteCount ? http::name(static_cast<http::Route>(route)) : "none");
    bool any = false;
    for (std::size_t i = 0; i < label::kStatuses.size(); ++i) {
      const std::uint64_t value = m.requests[route].value(i);
      if (value == 0) continue;
      any = true;
      requests.points.push_back({{{"route", name}, {"code", std::string(label::kStatuses[i])}}, static_cast<double>(value)});
    }
    if (any) durations.points.push_back({{{"route", name}}, m.request_duration[route].values()});
  }
  all.push_back(std::move(requests));
  all.push_back(std::move(durations));
}

void add_transport(std::vector<Family>& all, const http::Counters& c) {
  all.push_back(gauge("rookery_http_requests_in_flight", "{request}", "HTTP requests that are being served.", static_cast<double>(c.busy)));
  all.push_back(gauge("rookery_http_connections", "{connection}", "Open connections of clients.", static_cast<double>(c.connections)));
  all.push_back(gauge("rookery_http_threads", "{thread}", "Threads that serve requests.", static_cast<double>(c.threads)));
  all.push_back(counter("rookery_http_received_bytes_total", "By", "Bytes received from clients.", c.received_bytes));
  all.push_back(counter("rookery_http_sent_bytes_total", "By", "Bytes sent to clients.", c.sent_bytes));
}

void add_usage(std::vector<Family>& all, const SessionTable::Page& live) {
  double sum = 0, most = 0, processes = 0;
  for (const auto& session : live.sessions) {
    const auto bytes = static_cast<double>(session->memory_bytes());
    sum += bytes;
    most = std::max(most, bytes);
    processes += static_cast<double>(session->processes());
  }
  all.push_back(gauge("rookery_sessions_memory_bytes", "By", "Memory charged to all leased sessions.", sum));
  all.push_back(gauge("rookery_session_memory_max_bytes", "By", "Memory charged to the leased session that has most.", most));
  all.push_back(gauge("rookery_sessions_processes", "{process}", "Processes and threads of all leased sessions.", processes));
}

void add_telemetry(std::vector<Family>& all, const telemetry::ExportCounts& counts) {
  Family records{"rookery_telemetry_records_total", Kind::kCounter, "{record}", "Spans, metrics and log records by what became of them.", {}};
  for (const telemetry::Signal signal : telemetry::kSignals) {
    const std::size_t i = telemetry::index(signal);
    const std::pair<const char*, std::uint64_t> results[] = {
        {"exported", counts.exported[i]}, {"dropped", counts.unsent[i] + counts.dropped[i]}, {"failed", counts.failed[i]}};
    for (const auto& [result, count] : results) {
      records.points.push_back({{{"signal", std::string(telemetry::name(signal))}, {"result", result}}, static_cast<double>(count)});
    }
  }
  all.push_back(std::move(records));
}

}  // namespace

Monitor::Monitor(const util::Settings& settings, const SessionTable& sessions, WardenClient& warden, const ServerMetrics& metrics,
                 Telemetry* telemetry)
    : settings_(settings), sessions_(sessions), warden_(warden), metrics_(metrics), telemetry_(telemetry) {}

std::vector<Family> Monitor::families() const {
  const ServerMetrics& m = metrics_;
  std::vector<Family> all;
  all.push_back({"rookery_build_info", Kind::kGauge, "1", "1, with the version as a label.", {Point{{{"version", ROOKERY_VERSION}}, 1.0}}});
  all.push_back(gauge("rookery_start_time_seconds", "s", "When the server started, in seconds since 1970.",
                      std::chrono::duration<double>(started_.time_since_epoch()).count()));
  all.push_back(gauge("rookery_sessions", "{session}", "Leased sessions.", static_cast<double>(sessions_.count())));
  all.push_back(gauge("rookery_sessions_max", "{session}", "Sessions that may be leased at once.", settings_.max_sessions));
  all.push_back(counter("rookery_sessions_created_total", "{session}", "Sessions that were leased.", m.sessions_created.value()));
  all.push_back(counters("rookery_sessions_ended_total", "{session}", "Sessions that ended, by reason.", "reason", m.sessions_ended));
  all.push_back(histogram("rookery_session_lifetime_seconds", "How long sessions were leased.", m.session_lifetime));
  all.push_back(histogram("rookery_lease_duration_seconds", "How long it took to lease a session.", m.lease_duration));
  all.push_back(counters("rookery_leases_refused_total", "{session}", "Sessions that were asked for and not given, by reason.", "reason", m.leases_refused));
  if (const auto statistics = warden_statistics()) {
    all.push_back(gauge("rookery_jails", "{jail}", "Jails: leased, ready, starting and ending.", statistics->jails));
    all.push_back(gauge("rookery_jails_ready", "{jail}", "Jails that are ready to be leased.", statistics->ready));
    all.push_back(counter("rookery_zygote_starts_total", "{start}", "Zygotes that came up; one at the start, more after losses and replacements.",
                          statistics->zygote_starts));
    all.push_back(gauge("rookery_telemetry_exporter_up", "1", "1 while the exporter runs; 0 also when telemetry is off.", statistics->exporter_up ? 1 : 0));
    all.push_back(counter("rookery_telemetry_exporter_restarts_total", "{restart}", "Exporters that were started again after one ended.",
                          statistics->exporter_restarts));
  }
  add_usage(all, sessions_.list(0, std::numeric_limits<std::size_t>::max()));
  add_calls(all, m);
  add_requests(all, m);
  if (const http::HttpServer* transport = transport_) add_transport(all, transport->counters());
  static const telemetry::ExportCounts kNone;
  add_telemetry(all, telemetry_ != nullptr ? telemetry_->counts() : kNone);
  return all;
}

// One question at a time; who comes meanwhile, or finds the warden busy, gets the last answer.
std::optional<WardenClient::Statistics> Monitor::warden_statistics() const {
  const std::unique_lock asking(asking_mutex_, std::try_to_lock);
  if (asking.owns_lock()) {
    try {
      const auto fresh = warden_.statistics(kWardenPatience);
      const std::lock_guard lock(last_mutex_);
      last_statistics_ = fresh;
    } catch (const std::exception&) {
      // A warden that is busy for a moment says nothing of the server's own health.
    }
  }
  const std::lock_guard lock(last_mutex_);
  return last_statistics_;
}

}  // namespace rookery::server

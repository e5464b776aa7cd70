// SPDX-License-Identifier: Apache-2.0
#include "server/request_log.h"

#include "log/log.h"

namespace rookery::server {

std::string_view policy_violation(const http::AccessRecord& record) noexcept {
  switch (record.status) {
    case 401: return "unauthenticated";
    case 403: return record.route == nullptr ? "cross_site_request" : record.route->route == http::Route::kDrain ? "remote_drain" : "path_outside";
    case 421: return "unknown_host";
    default: return {};
  }
}

void log_request(const http::AccessRecord& record) {
  if (!log::enabled(log::Level::kWarning)) return;
  static const http::RequestNotes kNothing;
  const http::RequestNotes& notes = record.notes != nullptr ? *record.notes : kNothing;
  const std::string_view session = record.route != nullptr ? log::shortened(record.route->session_id) : std::string_view();
  const log::Scope scope({{"request_id", notes.request_id}, {"session_id", session}, {"trace_id", notes.trace.trace_id}});
  const std::string_view violation = policy_violation(record);
  if (!violation.empty()) log::warning("policy violation", {{"kind", violation}});
  log::info("request", {{"method", record.head != nullptr ? http::name(record.head->method) : ""},
                        {"route", record.route != nullptr ? http::name(record.route->route) : ""},
                        {"status", std::int64_t{record.status}},
                        {"duration_ms", static_cast<double>(record.duration_us) / 1000},
                        {"tool", notes.tool},
                        {"outcome", notes.outcome},
                        {"limit", notes.limit},
                        {"sent", record.completed ? "" : "incomplete"}});
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/server_metrics.h"

#include <charconv>

#include "server/request_log.h"

namespace rookery::server {

void ServerMetrics::count(const http::AccessRecord& record) noexcept {
  const std::size_t route = record.route != nullptr ? static_cast<std::size_t>(record.route->route) : http::kRouteCount;
  char status[8];
  requests[route].add({status, static_cast<std::size_t>(std::to_chars(status, status + sizeof status, record.status).ptr - status)});
  request_duration[route].observe(std::chrono::microseconds(record.duration_us));
  if (const std::string_view violation = policy_violation(record); !violation.empty()) violations.add(violation);
  if (record.notes == nullptr) return;
  const http::RequestNotes& notes = *record.notes;
  for (const http::RequestNotes::Stage& stage : notes.stages) {
    if (stage.name == "lease") lease_duration.observe(stage.end - stage.start);
    if (stage.name == "queue wait") queue_wait.observe(stage.end - stage.start);
    if (stage.name == "execution") call_duration[metrics::Counters<label::kTools>::index(notes.tool)].observe(stage.end - stage.start);
  }
  if (notes.tool.empty()) return;
  calls[metrics::Counters<label::kTools>::index(notes.tool)].add(notes.outcome);
  if (!notes.limit.empty()) limit_hits.add(notes.limit);
}

}  // namespace rookery::server

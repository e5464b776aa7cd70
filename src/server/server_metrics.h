// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string_view>

#include "metrics/instruments.h"
#include "server/http/http_server.h"

namespace rookery::server {

// The values of labels.
namespace label {
using std::string_view_literals::operator""sv;
inline constexpr std::array kEndReasons = {"deleted"sv, "idle"sv, "lifetime"sv, "shutdown"sv};
inline constexpr std::array kLeaseRefusals = {"capacity"sv, "draining"sv, "failed"sv};
inline constexpr std::array kTools = {"code_execution"sv, "bash_code_execution"sv, "text_editor_code_execution"sv};
// "refused": the session's queue was full or too slow. "failed": our fault.
inline constexpr std::array kOutcomes = {"ok"sv, "error"sv, "limit"sv, "timeout"sv, "crashed"sv, "cancelled"sv, "client_gone"sv, "refused"sv, "failed"sv};
inline constexpr std::array kLimits = {"memory"sv, "cpu"sv, "pids"sv, "file_size"sv, "workspace"sv, "output"sv, "wall_clock"sv};
inline constexpr std::array kViolations = {"seccomp_kill"sv, "forged_message"sv, "path_outside"sv, "remote_drain"sv,
                                            "cross_site_request"sv, "unknown_host"sv, "unauthenticated"sv};
inline constexpr std::array kStatuses = {"200"sv, "201"sv, "204"sv, "400"sv, "401"sv, "403"sv, "404"sv, "405"sv, "408"sv, "409"sv, "413"sv, "414"sv,
                                         "415"sv, "417"sv, "421"sv, "422"sv, "431"sv, "500"sv, "501"sv, "503"sv, "505"sv, "other"sv};
}  // namespace label

// Everything that the server counts. Thread-safe.
struct ServerMetrics {
  metrics::Counter sessions_created;
  metrics::Counters<label::kEndReasons> sessions_ended;
  metrics::Histogram session_lifetime;
  metrics::Histogram lease_duration;
  metrics::Counters<label::kLeaseRefusals> leases_refused;

  // By label::kTools.
  std::array<metrics::Counters<label::kOutcomes>, label::kTools.size()> calls;
  std::array<metrics::Histogram, label::kTools.size()> call_duration;
  metrics::Histogram queue_wait;
  metrics::Counters<label::kLimits> limit_hits;
  metrics::Counter interpreter_restarts;
  metrics::Counter jail_rebuilds;
  metrics::Counters<label::kViolations> violations;

  // By http::Route; the last one is for requests that found none.
  std::array<metrics::Counters<label::kStatuses>, http::kRouteCount + 1> requests;
  std::array<metrics::Histogram, http::kRouteCount + 1> request_duration;

  // Counts a finished request, and the call or lease in it.
  void count(const http::AccessRecord& record) noexcept;
};

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "log/record.h"
#include "metrics/family.h"

// OTLP's JSON encoding (opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): lowerCamelCase names, ids in
// hexadecimal, 64-bit integers as strings, enumerations as numbers. One record each; request_body() makes a request of many.
namespace rookery::telemetry {

enum class Signal : char { kTraces = 't', kMetrics = 'm', kLogs = 'l' };
inline constexpr Signal kSignals[] = {Signal::kTraces, Signal::kMetrics, Signal::kLogs};
// Its place in kSignals.
[[nodiscard]] constexpr std::size_t index(Signal signal) noexcept { return signal == Signal::kTraces ? 0 : signal == Signal::kMetrics ? 1 : 2; }

// "traces", "metrics", "logs"; also the last part of the path, /v1/NAME.
[[nodiscard]] std::string_view name(Signal signal) noexcept;

using Time = std::chrono::system_clock::time_point;

struct Span {
  std::string trace_id;   // 32 hex digits
  std::string span_id;    // 16
  std::string parent_id;  // 16, or empty
  std::string name;
  bool server = false;  // of a request; else a part of one
  bool failed = false;  // by our fault
  Time start, end;
  std::vector<log::Field> attributes;
};

[[nodiscard]] std::string span_json(const Span& span);
// The fields "trace_id" and "role" of a record are the log record's trace and an attribute; the others attributes.
[[nodiscard]] std::string log_json(const log::Record& record, Time now);
// Totals since `start`.
[[nodiscard]] std::string metric_json(const metrics::Family& family, Time start, Time now);

struct Resource {
  std::string service;      // service.name
  std::string environment;  // deployment.environment
  std::string version;      // service.version, also of the scope
};
// A whole export request. `records`: JSON of records of that signal, separated by commas.
[[nodiscard]] std::string request_body(Signal signal, const Resource& resource, std::string_view records);

}  // namespace rookery::telemetry

// SPDX-License-Identifier: Apache-2.0
#include "telemetry/otlp.h"

#include <charconv>
#include <cmath>

namespace rookery::telemetry {

namespace {

using log::append_escaped;

void append_integer(std::string& out, std::int64_t value) { out.append("\"").append(std::to_string(value)).append("\""); }

void append_double(std::string& out, double value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, std::isfinite(value) ? value : 0.0).ptr);
}

void append_time(std::string& out, std::string_view key, Time time) {
  out.append("\"").append(key).append("\":");
  append_integer(out, std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count());
}

void append_key(std::string& out, std::string_view key) {
  if (out.back() != '[') out += ',';
  out.append("{\"key\":\"").append(key).append("\",\"value\":{");
}

void append_attribute(std::string& out, std::string_view key, std::string_view text) {
  append_key(out, key);
  out += "\"stringValue\":";
  append_escaped(out, text);
  out += "}}";
}

void append_attribute(std::string& out, const log::Field& field) {
  if (const auto* text = std::get_if<std::string_view>(&field.value)) {
    if (!text->empty()) append_attribute(out, field.name, *text);
    return;
  }
  append_key(out, field.name);
  if (const auto* integer = std::get_if<std::int64_t>(&field.value)) {
    out += "\"intValue\":";
    append_integer(out, *integer);
  } else {
    out += "\"doubleValue\":";
    append_double(out, std::get<double>(field.value));
  }
  out += "}}";
}

// opentelemetry.io/docs/specs/otel/logs/data-model/#field-severitynumber
int severity_number(log::Level level) noexcept {
  switch (level) {
    case log::Level::kDebug: return 5;
    case log::Level::kInfo: return 9;
    case log::Level::kWarning: return 13;
    case log::Level::kError: return 17;
    case log::Level::kCritical: break;
  }
  return 21;
}

void append_point(std::string& out, const metrics::Point& point, metrics::Kind kind, Time start, Time now) {
  out += "{\"attributes\":[";
  for (const auto& [label, value] : point.labels) append_attribute(out, label, value);
  out += "],";
  if (kind != metrics::Kind::kGauge) {
    append_time(out, "startTimeUnixNano", start);
    out += ',';
  }
  append_time(out, "timeUnixNano", now);
  if (const auto* values = std::get_if<metrics::Histogram::Values>(&point.value)) {
    out += ",\"count\":";
    append_integer(out, static_cast<std::int64_t>(values->count));
    out += ",\"sum\":";
    append_double(out, values->sum);
    out += ",\"bucketCounts\":[";
    for (const std::uint64_t count : values->buckets) {
      if (out.back() != '[') out += ',';
      append_integer(out, static_cast<std::int64_t>(count));
    }
    out += "],\"explicitBounds\":[";
    for (const double bound : metrics::Histogram::kBounds) {
      if (out.back() != '[') out += ',';
      append_double(out, bound);
    }
    out += "]}";
    return;
  }
  out += ",\"asDouble\":";
  append_double(out, std::get<double>(point.value));
  out += '}';
}

}  // namespace

std::string_view name(Signal signal) noexcept {
  switch (signal) {
    case Signal::kTraces: return "traces";
    case Signal::kMetrics: return "metrics";
    case Signal::kLogs: return "logs";
  }
  return {};
}

std::string span_json(const Span& span) {
  std::string out = "{\"traceId\":\"" + span.trace_id + "\",\"spanId\":\"" + span.span_id + "\",";
  if (!span.parent_id.empty()) out += "\"parentSpanId\":\"" + span.parent_id + "\",";
  out += "\"name\":";
  append_escaped(out, span.name);
  out += span.server ? ",\"kind\":2," : ",\"kind\":1,";  // SPAN_KIND_SERVER, SPAN_KIND_INTERNAL
  append_time(out, "startTimeUnixNano", span.start);
  out += ',';
  append_time(out, "endTimeUnixNano", span.end);
  out += ",\"attributes\":[";
  for (const log::Field& field : span.attributes) append_attribute(out, field);
  out += span.failed ? "],\"status\":{\"code\":2}}" : "]}";  // STATUS_CODE_ERROR
  return out;
}

std::string log_json(const log::Record& record, Time now) {
  std::string out = "{";
  append_time(out, "timeUnixNano", now);
  out += ',';
  append_time(out, "observedTimeUnixNano", now);
  out.append(",\"severityNumber\":").append(std::to_string(severity_number(record.level)));
  out.append(",\"severityText\":\"").append(log::name(record.level)).append("\",\"body\":{\"stringValue\":");
  append_escaped(out, record.message);
  out += "},\"attributes\":[";
  append_attribute(out, "role", record.role);
  std::string_view trace;
  for (const log::Field& field : record.fields) {
    if (field.name == "trace_id") {
      trace = std::get<std::string_view>(field.value);
    } else {
      append_attribute(out, field);
    }
  }
  out += ']';
  if (!trace.empty()) out.append(",\"traceId\":\"").append(trace).append("\"");
  out += '}';
  return out;
}

std::string metric_json(const metrics::Family& family, Time start, Time now) {
  std::string out = "{\"name\":\"" + std::string(family.name) + "\",\"description\":";
  append_escaped(out, family.help);
  out += ",\"unit\":\"" + std::string(family.unit) + "\",";
  switch (family.kind) {
    case metrics::Kind::kCounter: out += "\"sum\":{\"aggregationTemporality\":2,\"isMonotonic\":true,\"dataPoints\":["; break;  // cumulative
    case metrics::Kind::kGauge: out += "\"gauge\":{\"dataPoints\":["; break;
    case metrics::Kind::kHistogram: out += "\"histogram\":{\"aggregationTemporality\":2,\"dataPoints\":["; break;
  }
  for (const metrics::Point& point : family.points) {
    if (&point != &family.points.front()) out += ',';
    append_point(out, point, family.kind, start, now);
  }
  out += "]}}";
  return out;
}

std::string request_body(Signal signal, const Resource& resource, std::string_view records) {
  struct Names {
    std::string_view resources, scopes, records;
  };
  const Names names = signal == Signal::kTraces    ? Names{"resourceSpans", "scopeSpans", "spans"}
                      : signal == Signal::kMetrics ? Names{"resourceMetrics", "scopeMetrics", "metrics"}
                                                   : Names{"resourceLogs", "scopeLogs", "logRecords"};
  std::string out;
  out.reserve(records.size() + 512);
  out.append("{\"").append(names.resources).append("\":[{\"resource\":{\"attributes\":[");
  append_attribute(out, "service.name", resource.service);
  append_attribute(out, "deployment.environment", resource.environment);
  append_attribute(out, "service.version", resource.version);
  out.append("]},\"").append(names.scopes).append("\":[{\"scope\":{\"name\":\"rookery\",\"version\":");
  append_escaped(out, resource.version);
  out.append("},\"").append(names.records).append("\":[").append(records).append("]}]}]}");
  return out;
}

}  // namespace rookery::telemetry

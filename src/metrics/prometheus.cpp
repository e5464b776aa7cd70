// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "metrics/family.h"

namespace rookery::metrics {

namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

std::string_view type_name(Kind kind) noexcept {
  switch (kind) {
    case Kind::kCounter: return "counter";
    case Kind::kGauge: return "gauge";
    case Kind::kHistogram: return "histogram";
  }
  return {};
}

void append_number(std::string& out, double value) {
  char text[32];
  out.append(text, std::to_chars(text, text + sizeof text, value).ptr);
}

void append_label(std::string& out, std::string_view name, std::string_view value, bool first) {
  out.append(first ? "{" : ",").append(name).append("=\"");
  for (const char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  out += '"';
}

// One sample; `le` is the bound of a histogram's bucket.
void append_sample(std::string& out, std::string_view name, std::string_view suffix, const Labels& labels, std::string_view le, double value) {
  out.append(name).append(suffix);
  bool first = true;
  for (const auto& [label, text] : labels) {
    append_label(out, label, text, first);
    first = false;
  }
  if (!le.empty()) {
    append_label(out, "le", le, first);
    first = false;
  }
  if (!first) out += '}';
  out += ' ';
  append_number(out, value);
  out += '\n';
}

void append_histogram(std::string& out, std::string_view name, const Labels& labels, const Histogram::Values& values) {
  std::uint64_t below = 0;
  for (std::size_t i = 0; i < values.buckets.size(); ++i) {
    below += values.buckets[i];
    std::string bound;
    if (i < Histogram::kBounds.size()) append_number(bound, Histogram::kBounds[i]);
    append_sample(out, name, "_bucket", labels, bound.empty() ? "+Inf" : bound, static_cast<double>(below));
  }
  append_sample(out, name, "_sum", labels, {}, values.sum);
  append_sample(out, name, "_count", labels, {}, static_cast<double>(values.count));
}

}  // namespace

std::string prometheus_text(const std::vector<Family>& families) {
  std::string out;
  out.reserve(32 * 1024);
  for (const Family& family : families) {
    out.append("# HELP ").append(family.name).append(" ").append(family.help).append("\n");
    out.append("# TYPE ").append(family.name).append(" ").append(type_name(family.kind)).append("\n");
    for (const Point& point : family.points) {
      if (const auto* values = std::get_if<Histogram::Values>(&point.value)) {
        append_histogram(out, family.name, point.labels, *values);
      } else {
        append_sample(out, family.name, {}, point.labels, {}, std::get<double>(point.value));
      }
    }
  }
  return out;
}

}  // namespace rookery::metrics

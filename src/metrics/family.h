// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "metrics/instruments.h"

// A snapshot of metrics, for whoever writes them down.
namespace rookery::metrics {

enum class Kind { kCounter, kGauge, kHistogram };

struct Point {
  std::vector<std::pair<std::string_view, std::string>> labels;
  std::variant<double, Histogram::Values> value = 0.0;
};

// Name, unit and help by Prometheus' conventions (https://prometheus.io/docs/practices/naming/).
struct Family {
  std::string_view name;
  Kind kind{};
  std::string_view unit;  // UCUM: "s", "By", "1", "{session}"
  std::string_view help;
  std::vector<Point> points;
};

// Prometheus' text format, version 0.0.4.
[[nodiscard]] std::string prometheus_text(const std::vector<Family>& families);

}  // namespace rookery::metrics

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

// What the log, the metrics and the traces tell of a request beside its status.
namespace rookery::server::http {

// W3C Trace Context, level 1: where the request comes from. Empty ids: it said nothing that can be used.
struct TraceParent {
  std::string trace_id;   // 32 lower-case hex digits, not all 0
  std::string parent_id;  // 16 likewise
  bool sampled = true;
};

// `field` as sent; anything but a well-formed one gives an empty TraceParent.
[[nodiscard]] TraceParent parse_traceparent(std::string_view field);

// 1 to 128 of the characters A-Z a-z 0-9 . _ : / @ + = -
[[nodiscard]] bool is_request_id(std::string_view text) noexcept;

struct RequestNotes {
  using Clock = std::chrono::steady_clock;
  // A part of the request that took time of its own. `name` is a literal.
  struct Stage {
    std::string_view name;
    Clock::time_point start, end;
  };

  // The transport's.
  std::string request_id;  // the client's X-Request-Id where that can be taken, else a random one
  TraceParent trace;
  Clock::time_point arrived;
  // The handler's; literals.
  std::string_view tool;
  std::string_view outcome;
  std::string_view limit;
  std::vector<Stage> stages;
};

}  // namespace rookery::server::http

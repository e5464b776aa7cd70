// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "metrics/family.h"
#include "server/http/http_server.h"
#include "telemetry/channel.h"
#include "util/settings.h"

namespace rookery::server {

// The server's part of the telemetry: makes records of what happens and hands them to the exporter, without ever waiting
// for it. Thread-safe.
class Telemetry {
 public:
  // `channel`: to the exporter (telemetry/channel.h). `counts`: see telemetry/export_counts.h.
  Telemetry(const util::Settings& settings, sys::UniqueFd channel, const sys::UniqueFd& counts);
  ~Telemetry() { end(); }
  Telemetry(const Telemetry&) = delete;
  Telemetry& operator=(const Telemetry&) = delete;

  // Every record of this process's log goes out from here on. Before the process has threads.
  void follow_log();
  // The spans of a finished request, unless its caller asked for none (an unsampled traceparent).
  void request(const http::AccessRecord& record);
  // Tells `metrics()` at the start, every telemetry_metrics_interval_s, and at the end. Once.
  void follow_metrics(std::function<std::vector<metrics::Family>()> metrics);

  // Tells the metrics a last time; nothing is told afterwards. What follow_metrics() was given must live until then.
  void end();

  [[nodiscard]] const telemetry::ExportCounts& counts() const noexcept { return counts_; }

 private:
  void tell_metrics();
  void run();

  telemetry::ExportCounts& counts_;
  telemetry::Sender sender_;
  const std::chrono::seconds interval_;
  const telemetry::Time started_ = std::chrono::system_clock::now();
  std::function<std::vector<metrics::Family>()> metrics_;
  std::mutex mutex_;
  std::condition_variable stopped_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <mutex>
#include <optional>
#include <vector>

#include "metrics/family.h"
#include "server/http/http_server.h"
#include "server/server_metrics.h"
#include "server/session_table.h"
#include "server/telemetry.h"
#include "server/warden_client.h"
#include "util/settings.h"

namespace rookery::server {

// Looks at everything at once: what was counted, and what there is at the moment. Thread-safe.
class Monitor {
 public:
  // All must outlive the monitor.
  Monitor(const util::Settings& settings, const SessionTable& sessions, WardenClient& warden, const ServerMetrics& metrics, Telemetry* telemetry);

  // From here on the transport's numbers are part of the snapshot, until nullptr takes it away again.
  void watch(const http::HttpServer* transport) noexcept { transport_ = transport; }

  [[nodiscard]] std::vector<metrics::Family> families() const;

  // The warden's numbers, or its last answer while it is busy; nullopt before there is one.
  [[nodiscard]] std::optional<WardenClient::Statistics> warden_statistics() const;

 private:
  const util::Settings& settings_;
  const SessionTable& sessions_;
  WardenClient& warden_;
  const ServerMetrics& metrics_;
  Telemetry* telemetry_;  // nullptr: off
  std::chrono::system_clock::time_point started_ = std::chrono::system_clock::now();
  std::atomic<const http::HttpServer*> transport_ = nullptr;
  mutable std::mutex asking_mutex_;
  mutable std::mutex last_mutex_;
  mutable std::optional<WardenClient::Statistics> last_statistics_;
};

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "sys/clone.h"
#include "telemetry/channel.h"
#include "telemetry/export_counts.h"
#include "util/settings.h"
#include "warden/poller.h"

namespace rookery::warden {

// The exporter (exporter/main.h), and another when it dies: after a second, and twice as long each time that one does not last.
// The channel stays: what is told meanwhile waits in it, as much as it holds, for the next one.
class ExporterProcess {
 public:
  // Makes what every exporter gets: the channel, the counts, and in the directory exporter/ of `trees` (warden/trees.h) a root
  // with the files that it takes to find a host by name and to check its certificate. While the machine's files are in
  // sight. Throws std::system_error.
  ExporterProcess(const util::Settings& settings, const std::string& trees);

  // The server's copies: the telling end of the channel, and the counts.
  [[nodiscard]] int channel() const noexcept { return sender_->channel(); }
  [[nodiscard]] int counts() const noexcept { return shared_.get(); }

  // Lets the warden's log go out with the server's.
  void follow_log();

  // Once `trees` is the root. `poller` gets its pidfd, under `tag`. Throws std::system_error.
  void start(Poller& poller, std::uint64_t tag);
  // It ended: counts what is lost with it.
  void on_end(Poller& poller);
  // Starts the next one when it is time.
  void on_timer(Poller& poller, std::uint64_t tag);
  // Until then; -1: while one runs.
  [[nodiscard]] int timeout_ms() const;

  [[nodiscard]] bool running() const noexcept { return static_cast<bool>(process_.pidfd); }
  [[nodiscard]] std::uint32_t restarts() const noexcept { return restarts_; }

  // Closes the warden's end of the channel, the last one, and gives the exporter a moment for what it has.
  void finish() noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  const util::Settings& settings_;
  sys::UniqueFd exporters_end_;
  sys::UniqueFd shared_;
  telemetry::ExportCounts& counts_;
  std::optional<telemetry::Sender> sender_;
  sys::Cloned process_;
  Clock::time_point started_{}, retry_at_{};
  unsigned failures_ = 0;  // one after the other
  std::uint32_t restarts_ = 0;
};

}  // namespace rookery::warden

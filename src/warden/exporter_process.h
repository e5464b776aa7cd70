// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "sys/clone.h"
#include "telemetry/channel.h"
#include "util/settings.h"

namespace rookery::warden {

// The exporter (exporter/main.h) and the channel that leads to it, which the server has a copy of.
struct ExporterProcess {
  sys::Cloned process;
  std::unique_ptr<telemetry::Sender> sender;

  // While the machine's files are still in sight. Throws std::system_error.
  static ExporterProcess start(const util::Settings& settings);
  // Lets the warden's log go out with the server's.
  void follow_log() const;
  // Closes the warden's end of the channel, the last one, and gives the exporter a moment for what it has.
  void finish() noexcept;
};

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#include "warden/exporter_process.h"

#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "log/log.h"
#include "sys/socket.h"
#include "warden/handover.h"
#include "warden/role.h"

namespace rookery::warden {

namespace {

constexpr int kLastMomentsMs = 7000;  // a little more than the exporter takes for itself (exporter/delivery.h)

}  // namespace

// Into namespaces of its own already here, as the server; the rest it drops itself after its exec.
ExporterProcess ExporterProcess::start(const util::Settings& settings) {
  auto [here, there] = sys::seqpacket_pair();
  ExporterProcess exporter;
  exporter.process = sys::clone_process(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS);
  if (exporter.process.pid == 0) {
    // The one process that gets it.
    if (::setenv("TELEMETRY_OTLP_HEADERS", settings.telemetry_headers.c_str(), 1) != 0) ::_exit(70);
    become_role(kExporterTitle, {there.get()});
  }
  exporter.sender = std::make_unique<telemetry::Sender>(std::move(here));
  return exporter;
}

void ExporterProcess::follow_log() const {
  log::observe([to = sender.get()](const log::Record& record) {
    to->send(telemetry::Signal::kLogs, telemetry::log_json(record, std::chrono::system_clock::now()));
  });
}

void ExporterProcess::finish() noexcept {
  log::observe(nullptr);
  sender.reset();
  pollfd ended{process.pidfd.get(), POLLIN, 0};
  if (::poll(&ended, 1, kLastMomentsMs) <= 0) sys::signal_process(process.pidfd.get(), SIGKILL);
  sys::reap(process.pidfd.get());
}

}  // namespace rookery::warden

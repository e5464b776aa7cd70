// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/unique_fd.h"
#include "warden/exporter_process.h"
#include "warden/pool.h"

namespace rookery::warden {

// The server's side of the warden: a closed table of requests (wire/warden_messages.h). The server is assumed to be
// compromised one day; a request that is unknown or malformed ends the server process, and with it everything. One that
// names a lease which has ended is no violation: a call and the release of its session may cross.
class Requests : public Pool::Answers {
 public:
  // `exporter`: nullptr without telemetry; outlives this.
  Requests(sys::UniqueFd channel, const ExporterProcess* exporter) : channel_(std::move(channel)), exporter_(exporter) {}

  [[nodiscard]] int channel() const noexcept { return channel_.get(); }

  // Serves what has arrived. False once the server has closed the channel. Throws std::runtime_error for a violation.
  bool serve(Pool& pool);

  void leased(std::uint64_t nonce, wire::Type type, std::uint64_t lease, const JailProcess& jail) override;
  void answer(std::uint64_t nonce, wire::Type type, std::uint64_t lease) override;
  void failed(std::uint64_t nonce, const std::string& why) override;

  // Answers kStats.
  void statistics(std::uint64_t nonce, const Pool& pool);

  // Throws std::system_error when the server does not read.
  void send(wire::Writer& message, std::span<const int> descriptors = {});

 private:
  sys::UniqueFd channel_;
  const ExporterProcess* exporter_;
};

}  // namespace rookery::warden

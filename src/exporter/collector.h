// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "telemetry/otlp.h"
#include "util/otlp_destination.h"

namespace httplib {
class Client;
}

namespace rookery::exporter {

struct Destination {
  util::OtlpEndpoint endpoint;
  util::OtlpHeaders headers;
  std::string certificates;  // a file of CAs in PEM, for https
};

// Seconds of a Retry-After field: a number, or a date (RFC 9110 10.2.3) seen from `now`; at most an hour. nullopt: neither.
[[nodiscard]] std::optional<std::chrono::seconds> parse_retry_after(const std::string& field, std::chrono::system_clock::time_point now);

// The receiver, over HTTP. One thread.
class Collector {
 public:
  explicit Collector(Destination destination);
  ~Collector();

  struct Answer {
    enum class Kind { kTaken, kRefused, kTryAgain } kind = Kind::kTryAgain;
    int status = 0;                                    // 0: no answer
    std::optional<std::chrono::seconds> retry_after;   // of kTryAgain
    std::string error;                                 // what went wrong, for the log
  };
  [[nodiscard]] Answer post(telemetry::Signal signal, const std::string& body);

 private:
  Destination destination_;
  std::unique_ptr<httplib::Client> client_;
};

}  // namespace rookery::exporter

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Where telemetry goes, as TELEMETRY_OTLP_ENDPOINT and TELEMETRY_OTLP_HEADERS say.
namespace rookery::util {

struct OtlpEndpoint {
  std::string origin;  // "http://host:port", "https://host:port"
  std::string path;    // before /v1/...; no slash at the end
};

// "http://host[:port][/path]", https likewise; no user, query or fragment. nullopt for anything else.
[[nodiscard]] std::optional<OtlpEndpoint> parse_otlp_endpoint(std::string_view text);

using OtlpHeaders = std::vector<std::pair<std::string, std::string>>;
// "name=value,name=value", percent-encoded as in W3C Baggage (opentelemetry.io/docs/specs/otel/protocol/exporter/). nullopt
// for what cannot be header fields.
[[nodiscard]] std::optional<OtlpHeaders> parse_otlp_headers(std::string_view text);

}  // namespace rookery::util

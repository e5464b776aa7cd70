// SPDX-License-Identifier: Apache-2.0
#include "exporter/collector.h"

#include <httplib.h>

#include <algorithm>
#include <charconv>
#include <ctime>

namespace rookery::exporter {

namespace {

constexpr time_t kConnectSeconds = 5;
constexpr time_t kTransferSeconds = 10;
// An answer tells nothing that is used: a longer one is no answer of a receiver.
constexpr std::size_t kMaxAnswer = 256 * 1024;

}  // namespace

std::optional<std::chrono::seconds> parse_retry_after(const std::string& field, std::chrono::system_clock::time_point now) {
  constexpr std::chrono::seconds kMost{3600};
  std::int64_t seconds = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), seconds);
  if (error == std::errc() && end == field.data() + field.size() && !field.empty()) {
    return std::clamp(std::chrono::seconds(seconds), std::chrono::seconds(0), kMost);
  }
  std::tm date{};
  const char* rest = ::strptime(field.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &date);
  if (rest == nullptr || *rest != '\0') return std::nullopt;
  const auto left = std::chrono::ceil<std::chrono::seconds>(std::chrono::system_clock::from_time_t(::timegm(&date)) - now);
  return std::clamp(left, std::chrono::seconds(0), kMost);
}

Collector::Collector(Destination destination)
    : destination_(std::move(destination)), client_(std::make_unique<httplib::Client>(destination_.endpoint.origin)) {
  client_->set_keep_alive(true);
  client_->set_follow_location(false);
  client_->set_decompress(false);
  client_->set_connection_timeout(kConnectSeconds);
  client_->set_read_timeout(kTransferSeconds);
  client_->set_write_timeout(kTransferSeconds);
  client_->set_ca_cert_path(destination_.certificates);
  client_->enable_server_certificate_verification(true);
}

Collector::~Collector() = default;

Collector::Answer Collector::post(telemetry::Signal signal, const std::string& body) {
  httplib::Request request;
  request.method = "POST";
  request.path = destination_.endpoint.path + "/v1/" + std::string(telemetry::name(signal));
  for (const auto& [name, value] : destination_.headers) request.headers.emplace(name, value);
  request.headers.emplace("Content-Type", "application/json");
  request.headers.emplace("User-Agent", "rookery/" ROOKERY_VERSION);
  request.body = body;
  std::size_t received = 0;
  request.content_receiver = [&](const char*, std::size_t length, std::uint64_t, std::uint64_t) { return (received += length) <= kMaxAnswer; };
  const httplib::Result result = client_->send(request);
  if (!result) return {Answer::Kind::kTryAgain, 0, std::nullopt, httplib::to_string(result.error())};
  const int status = result->status;
  if (status >= 200 && status < 300) return {Answer::Kind::kTaken, status, std::nullopt, {}};
  // opentelemetry.io/docs/specs/otlp/#retryable-response-codes; everything else says that this batch will never be taken.
  const bool again = status == 429 || status == 502 || status == 503 || status == 504;
  Answer answer{again ? Answer::Kind::kTryAgain : Answer::Kind::kRefused, status, std::nullopt, "status " + std::to_string(status)};
  if (again && result->has_header("Retry-After")) {
    answer.retry_after = parse_retry_after(result->get_header_value("Retry-After"), std::chrono::system_clock::now());
  }
  return answer;
}

}  // namespace rookery::exporter

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "server/http/exchange.h"
#include "sys/unique_fd.h"

// The HTTP transport.
//
//   poller (1 thread)   accepts; holds every connection that is idle or whose head is not complete yet:
//                       epoll, a bounded buffer and a deadline each, no thread
//   workers (0..max)    take a connection with a complete head: parse, policy, route, cpp-httplib (which
//                       calls the handler and writes the response); then wait a moment for the next
//                       request themselves, so that a busy client never passes through the poller
//
// cpp-httplib never sees a byte of the client's head: it gets a request made from the parsed one (see
// connection.h), because old versions of it are lax about framing.
namespace rookery::server::http {

using Milliseconds = std::chrono::milliseconds;

struct Limits {
  std::size_t max_threads = 512;        // requests served at once; beyond: 503
  std::size_t reserved_threads = 8;     // on top, for cheap routes only
  std::size_t max_connections = 16384;  // beyond: the oldest idle one is closed, else 503
  std::size_t max_pending_head_bytes = 64 * 1024 * 1024;  // of all incomplete heads; beyond: oldest closed

  Milliseconds idle_timeout{75'000};    // keep-alive, between requests
  Milliseconds header_timeout{10'000};  // from the first byte, or from connecting, to the complete head
  Milliseconds body_stall{30'000};      // without a byte of the body
  Milliseconds write_stall{30'000};     // without a byte taken by the client
  Milliseconds transfer_floor{60'000};  // a transfer may always take this long ...
  std::uint64_t transfer_rate = 32 * 1024;  // ... and longer at this rate, bytes a second
  Milliseconds stop_timeout{10'000};    // for running requests in stop()
  Milliseconds thread_idle{10'000};     // then a worker without work ends
  Milliseconds linger{20};              // a worker's wait for the next request on its connection

  std::size_t max_json_body = 16 * 1024 * 1024;                // 413
  std::size_t max_upload_body = (100 * 1024 + 64) * 1024ULL;  // 413; 100 MiB and its multipart framing
  std::size_t max_drain = 256 * 1024;  // of a body nobody read; more: close
};

struct Decision {
  bool allowed = true;
  std::string_view detail = "Not authenticated";  // for the 401
  bool offers_basic = false;  // the 401 names Basic beside Bearer, which makes a browser ask its user
};

// One finished request, for the access log. Views live during the call only.
struct AccessRecord {
  const RequestHead* head = nullptr;  // null when the head was not valid
  const RouteMatch* route = nullptr;  // null when there was none
  int status = 0;
  std::uint64_t duration_us = 0;
  bool completed = true;  // false: the response could not be sent whole
  const RequestNotes* notes = nullptr;  // null for a request that no worker saw
};

// All are called from several threads at once and must not throw. Only `handler` is needed.
struct Hooks {
  Handler handler;
  std::function<bool(std::string_view host)> host_allowed;  // lower case, without port; "" in HTTP/1.0
  std::function<bool(std::string_view host)> host_is_own;  // likewise: no stranger can have made it lead here
  std::function<Decision(const RequestHead&, const RouteMatch* route)> authorize;  // null: no such route
  std::function<void(std::string_view text)> log_error;  // our faults: an exception a handler let out, ...
  std::function<void(const AccessRecord&)> access;
  bool trace_every_request = false;  // a request without a trace of its own gets one
};

struct Counters {
  std::size_t connections = 0;
  std::size_t threads = 0;
  std::size_t busy = 0;  // requests being served
  std::uint64_t received_bytes = 0;  // since the start, heads included
  std::uint64_t sent_bytes = 0;
};

class HttpServer {
 public:
  // `listener`: bound and listening, TCP or unix stream. Serves from now on. Throws std::system_error.
  HttpServer(sys::UniqueFd listener, const Limits& limits, Hooks hooks);
  // As stop().
  ~HttpServer();
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  // Stops accepting, closes idle connections, lets running requests finish for limits.stop_timeout, then
  // shuts their connections down (a handler sees it on client_fd) and waits until the handlers return.
  // Any thread but a handler's; a second call waits for the first.
  void stop();
  // As the first half of stop(), at once and without waiting.
  void begin_stop() noexcept;
  [[nodiscard]] Counters counters() const noexcept;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rookery::server::http

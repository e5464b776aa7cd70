// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <memory>

#include "server/http/connection.h"
#include "server/http/http_server.h"
#include "server/http/httplib_bridge.h"
#include "server/http/poller.h"
#include "server/http/worker_pool.h"
#include "sys/cpu_pin.h"

namespace rookery::server::http {

// True when the buffered head of `connection`, which is complete, asks for a cheap route.
[[nodiscard]] bool asks_for_cheap_route(const Connection& connection);

// What one worker does with a connection: answer requests as long as they come one after another.
class RequestLoop {
 public:
  // All must outlive the loop. `stopping`: answer, then close.
  RequestLoop(const Hooks& hooks, const Limits& limits, Poller& poller, const std::atomic<bool>& stopping);

  // The connection has a complete head, or one that can never become valid.
  void serve(WorkerPool::Worker& worker, std::unique_ptr<Connection> connection) {
    converse(worker, std::move(connection));
    pin_.release();
  }

 private:
  enum class After { kReuse, kLeave, kClose };

  void converse(WorkerPool::Worker& worker, std::unique_ptr<Connection> connection);
  After answer(Connection& connection, bool alone);
  void begin();
  After answer(Connection& connection, const RequestHead& head, bool alone);
  After refuse(Connection& connection, const HttpError& error, const RequestHead* head, bool keep);
  void log(const RequestHead* head, const RouteMatch* route, int status, bool completed) const;

  const Hooks& hooks_;
  const Limits& limits_;
  Poller& poller_;
  const std::atomic<bool>& stopping_;
  HttplibBridge bridge_;
  RequestNotes notes_;  // of the request in answer()
  sys::CpuPin pin_;     // of this thread, while calls come one after another
};

}  // namespace rookery::server::http

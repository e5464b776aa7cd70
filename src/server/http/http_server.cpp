// SPDX-License-Identifier: Apache-2.0
#include "server/http/http_server.h"

#include <atomic>
#include <mutex>

#include "server/http/poller.h"
#include "server/http/request_loop.h"
#include "server/http/worker_pool.h"

namespace rookery::server::http {

class HttpServer::Impl {
 public:
  Impl(sys::UniqueFd listener, const Limits& limits, Hooks hooks)
      : limits_(limits),
        hooks_(std::move(hooks)),
        pool_(limits.max_threads, limits.reserved_threads, limits.thread_idle, [this] { return make_serve(); }),
        poller_(
            std::move(listener), limits_, [this](std::unique_ptr<Connection>& c) { return dispatch(c); },
            [this](int status) { refused(status); }) {}

  void begin_stop() noexcept {
    stopping_ = true;
    poller_.drain();
  }

  void stop() {
    const std::lock_guard lock(stop_mutex_);
    if (std::exchange(stopped_, true)) return;
    begin_stop();
    if (!pool_.wait_idle(std::chrono::steady_clock::now() + limits_.stop_timeout)) pool_.shutdown_running();
    pool_.join();
    poller_.stop();
  }

  [[nodiscard]] Counters counters() const noexcept {
    const Traffic& traffic = poller_.traffic();
    return {traffic.connections, pool_.threads(), pool_.busy(), traffic.received, traffic.sent};
  }

 private:
  WorkerPool::Serve make_serve() {
    auto loop = std::make_shared<RequestLoop>(hooks_, limits_, poller_, stopping_);
    return [loop](WorkerPool::Worker& worker, std::unique_ptr<Connection> connection) {
      loop->serve(worker, std::move(connection));
    };
  }

  bool dispatch(std::unique_ptr<Connection>& connection) {
    return pool_.submit(connection, false) || (asks_for_cheap_route(*connection) && pool_.submit(connection, true));
  }

  void refused(int status) const {
    if (hooks_.access) hooks_.access({nullptr, nullptr, status, 0, true});
  }

  const Limits limits_;
  const Hooks hooks_;
  std::atomic<bool> stopping_{false};
  std::mutex stop_mutex_;
  bool stopped_ = false;
  WorkerPool pool_;
  Poller poller_;  // its thread starts here, when everything else is ready
};

HttpServer::HttpServer(sys::UniqueFd listener, const Limits& limits, Hooks hooks)
    : impl_(std::make_unique<Impl>(std::move(listener), limits, std::move(hooks))) {}

HttpServer::~HttpServer() { stop(); }
void HttpServer::stop() { impl_->stop(); }
void HttpServer::begin_stop() noexcept { impl_->begin_stop(); }
Counters HttpServer::counters() const noexcept { return impl_->counters(); }

}  // namespace rookery::server::http

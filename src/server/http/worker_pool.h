// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "server/http/connection.h"

namespace rookery::server::http {

// Threads that serve connections: made on demand up to a bound, ended after some time without work. No
// request waits for one that runs: beyond the bound it is refused at once.
class WorkerPool {
 public:
  // One thread of the pool.
  class Worker {
   public:
    // When the request is answered: the thread is free, though it may stay with its connection for a moment.
    void end_request();
    // False: no room; the connection's next request is to be refused.
    [[nodiscard]] bool begin_request(int fd, bool cheap);
    // Whether the thread may stay with its connection now: nobody waits for it, and others are left.
    [[nodiscard]] bool may_linger() const;
    // Whether no other request runs beside this thread's.
    [[nodiscard]] bool alone() const { return pool_.busy() == 1; }

   private:
    friend class WorkerPool;
    explicit Worker(WorkerPool& pool) : pool_(pool) {}

    WorkerPool& pool_;
    std::condition_variable wake_;
    std::unique_ptr<Connection> job_;
    int fd_ = -1;  // of the request that runs
    std::thread thread_;
  };

  // A connection with a complete head; begin_request() holds for it. Serves it until it is closed or
  // parked elsewhere, with end_request() called last.
  using Serve = std::function<void(Worker&, std::unique_ptr<Connection>)>;
  // Makes a Serve for each thread.
  using MakeServe = std::function<Serve()>;

  WorkerPool(std::size_t max_threads, std::size_t reserved, std::chrono::milliseconds idle, MakeServe make_serve);
  // shutdown_running() and join() were called.
  ~WorkerPool() = default;

  // False, with `connection` untouched: no room.
  [[nodiscard]] bool submit(std::unique_ptr<Connection>& connection, bool cheap);

  // True when nothing runs any more, false at the deadline.
  bool wait_idle(std::chrono::steady_clock::time_point deadline);
  // Shuts the sockets of running requests down.
  void shutdown_running();
  // Ends all threads; waits for what they run.
  void join();

  [[nodiscard]] std::size_t threads() const;
  [[nodiscard]] std::size_t busy() const;

 private:
  using Workers = std::list<std::unique_ptr<Worker>>;

  [[nodiscard]] bool has_room(bool cheap) const noexcept;
  [[nodiscard]] bool spawn(std::unique_ptr<Connection>& connection);
  void run(Workers::iterator self);
  bool next_job(Worker& worker, std::unique_lock<std::mutex>& lock);

  const std::size_t max_threads_;
  const std::size_t reserved_;
  const std::chrono::milliseconds idle_time_;
  const MakeServe make_serve_;

  mutable std::mutex mutex_;
  std::condition_variable quiet_;
  Workers workers_;
  Workers finished_;             // ended, to be joined
  std::vector<Worker*> waiting_;  // without a connection; the last one is used first, so that others can end
  std::deque<std::unique_ptr<Connection>> queue_;  // at most as many as threads that linger
  std::size_t running_ = 0;                        // requests; with queue_ never more than the bound
  bool stop_ = false;
};

}  // namespace rookery::server::http

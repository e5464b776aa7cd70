// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "server/http/connection.h"
#include "server/http/http_server.h"
#include "sys/unique_fd.h"

namespace rookery::server::http {

// The thread that holds every connection without a complete request: new ones, idle ones, slow ones, and
// those that are being left. All waiting is in one epoll_wait() whose timeout is the next deadline.
class Poller {
 public:
  // A complete (or hopeless) head is buffered. False: no room for it, with `connection` untouched.
  using Dispatch = std::function<bool(std::unique_ptr<Connection>& connection)>;
  // A fixed answer was sent to a request that no worker saw.
  using Refused = std::function<void(int status)>;

  // `limits` must outlive the poller. Throws std::system_error.
  Poller(sys::UniqueFd listener, const Limits& limits, Dispatch dispatch, Refused refused);
  // stop() was called.
  ~Poller() = default;

  // Any thread. A connection that waits for its next request, whose head may have begun.
  void park(std::unique_ptr<Connection> connection) { hand_over(std::move(connection), false); }
  // Any thread. A connection that got its last answer: closed once the client has had time to read it,
  // because closing with unread input resets the connection and may destroy the answer.
  void leave(std::unique_ptr<Connection> connection) { hand_over(std::move(connection), true); }

  // Stops accepting and closes what is idle or incomplete, now and later. Does not wait.
  void drain() noexcept;
  // Closes everything and ends the thread. Nothing may be handed over afterwards.
  void stop() noexcept;

  [[nodiscard]] const Traffic& traffic() const noexcept { return traffic_; }

 private:
  using Clock = std::chrono::steady_clock;
  using Holder = std::unique_ptr<Connection>;
  // Ordered by deadline, as all members have the same time to live.
  struct TimedList {
    std::list<Holder> members;
    Milliseconds time_to_live;
  };

  void run();
  void hand_over(Holder connection, bool leaving);
  void take_over();
  void wake() noexcept;
  void accept_some();
  void accepting(bool on) noexcept;
  void adopt(Holder connection, TimedList& list);
  void arm(Connection& connection, int operation);
  void move(Connection& connection, TimedList& list);
  Holder remove(Connection& connection);
  void readable(Connection& connection);
  void received(Connection& connection);
  void discard(Connection& connection);
  void refuse(Holder connection, int status, std::string_view detail);
  void expire(Clock::time_point now);
  [[nodiscard]] int timeout(Clock::time_point now) const;
  bool close_oldest();

  sys::UniqueFd listener_;
  sys::UniqueFd epoll_;
  sys::UniqueFd event_;
  const Limits& limits_;
  const Dispatch dispatch_;
  const Refused refused_;

  Traffic traffic_;
  std::atomic<bool> draining_{false};
  std::atomic<bool> stopping_{false};
  std::mutex mutex_;
  std::vector<std::pair<Holder, bool>> handed_over_;  // guarded by mutex_

  // The poller thread's own.
  TimedList idle_;     // nothing received since the last response
  TimedList heads_;    // new, or a head has begun
  TimedList leaving_;  // answered for the last time
  std::vector<Connection*> by_fd_;
  std::uint32_t generation_ = 0;
  std::size_t pending_bytes_ = 0;  // buffered for heads_
  Clock::time_point accept_again_ = Clock::time_point::max();

  std::thread thread_;
};

}  // namespace rookery::server::http

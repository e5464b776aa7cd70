// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace rookery::server {

// Lets the calls of one session run one after another, in the order of their arrival. Thread-safe.
class CallQueue {
 public:
  enum class Entry { kEntered, kTimedOut, kFull, kClosed };

  // Waits for its turn, at most `patience`. After kEntered, leave() has to be called.
  Entry enter(std::chrono::milliseconds patience);
  void leave();
  // No call enters from here on; those that wait get kClosed.
  void close();
  [[nodiscard]] bool busy() const;  // a call runs or waits

 private:
  // Beyond this many a session's callers would only hold threads that others need.
  static constexpr std::size_t kMaxWaiting = 32;

  struct Waiter {
    std::condition_variable turn;
    bool called = false;
  };

  mutable std::mutex mutex_;
  std::deque<Waiter*> waiting_;
  bool running_ = false;
  bool closed_ = false;
};

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/call_queue.h"

#include <doctest/doctest.h>

#include <atomic>
#include <thread>
#include <vector>

using rookery::server::CallQueue;
using namespace std::chrono_literals;

TEST_CASE("calls enter in the order of their arrival") {
  CallQueue queue;
  REQUIRE(queue.enter(1s) == CallQueue::Entry::kEntered);
  std::mutex mutex;
  std::vector<int> order;
  std::atomic<int> started = 0;
  std::vector<std::thread> threads;
  for (int number = 0; number < 8; ++number) {
    threads.emplace_back([&, number] {
      ++started;
      CHECK(queue.enter(30s) == CallQueue::Entry::kEntered);
      {
        const std::lock_guard lock(mutex);
        order.push_back(number);
      }
      queue.leave();
    });
    while (started <= number) std::this_thread::yield();
    std::this_thread::sleep_for(20ms);  // until it stands in the line
  }
  queue.leave();
  for (auto& thread : threads) thread.join();
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK_FALSE(queue.busy());
}

TEST_CASE("a wait is bounded, and who gave up is not called later") {
  CallQueue queue;
  REQUIRE(queue.enter(1s) == CallQueue::Entry::kEntered);
  CHECK(queue.enter(10ms) == CallQueue::Entry::kTimedOut);
  queue.leave();
  CHECK(queue.enter(10ms) == CallQueue::Entry::kEntered);
}

TEST_CASE("closing ends the waits and lets nobody in") {
  CallQueue queue;
  REQUIRE(queue.enter(1s) == CallQueue::Entry::kEntered);
  std::thread waiter([&] { CHECK(queue.enter(30s) == CallQueue::Entry::kClosed); });
  std::this_thread::sleep_for(20ms);
  queue.close();
  waiter.join();
  queue.leave();
  CHECK(queue.enter(1s) == CallQueue::Entry::kClosed);
}

TEST_CASE("a line that is too long is refused at once") {
  CallQueue queue;
  REQUIRE(queue.enter(1s) == CallQueue::Entry::kEntered);
  std::vector<std::thread> threads;
  std::atomic<int> refused = 0;
  for (int i = 0; i < 40; ++i) {
    threads.emplace_back([&] {
      const auto entry = queue.enter(30s);
      if (entry == CallQueue::Entry::kFull) ++refused;
    });
  }
  while (refused < 8) std::this_thread::yield();
  queue.close();
  for (auto& thread : threads) thread.join();
  CHECK(refused == 8);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/call_queue.h"

#include <algorithm>

namespace rookery::server {

CallQueue::Entry CallQueue::enter(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (closed_) return Entry::kClosed;
  if (!running_) {
    running_ = true;
    return Entry::kEntered;
  }
  if (waiting_.size() >= kMaxWaiting) return Entry::kFull;
  Waiter self;
  waiting_.push_back(&self);
  self.turn.wait_for(lock, patience, [&] { return self.called || closed_; });
  if (self.called) return Entry::kEntered;  // leave() has taken it out and kept running_ set for it
  std::erase(waiting_, &self);
  return closed_ ? Entry::kClosed : Entry::kTimedOut;
}

void CallQueue::leave() {
  const std::lock_guard lock(mutex_);
  if (closed_ || waiting_.empty()) {
    running_ = false;
    return;
  }
  waiting_.front()->called = true;
  waiting_.front()->turn.notify_one();
  waiting_.pop_front();
}

void CallQueue::close() {
  const std::lock_guard lock(mutex_);
  closed_ = true;
  for (Waiter* waiter : waiting_) waiter->turn.notify_one();
}

bool CallQueue::busy() const {
  const std::lock_guard lock(mutex_);
  return running_ || !waiting_.empty();
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/http/worker_pool.h"

#include <sys/socket.h>

#include <algorithm>
#include <system_error>

namespace rookery::server::http {

WorkerPool::WorkerPool(std::size_t max_threads, std::size_t reserved, std::chrono::milliseconds idle,
                       MakeServe make_serve)
    : max_threads_(max_threads), reserved_(reserved), idle_time_(idle), make_serve_(std::move(make_serve)) {}

// Every queued connection has a thread that will come for it: threads never number less than
// running + lingering, and running + queued never more than the bound on threads.
bool WorkerPool::has_room(bool cheap) const noexcept {
  return !stop_ && running_ + queue_.size() < max_threads_ + (cheap ? reserved_ : 0);
}

bool WorkerPool::submit(std::unique_ptr<Connection>& connection, bool cheap) {
  const std::lock_guard lock(mutex_);
  finished_.remove_if([](const std::unique_ptr<Worker>& worker) {
    worker->thread_.join();
    return true;
  });
  if (!has_room(cheap)) return false;
  if (!waiting_.empty()) {
    Worker* worker = waiting_.back();
    waiting_.pop_back();
    ++running_;
    worker->fd_ = connection->fd();
    worker->job_ = std::move(connection);
    worker->wake_.notify_one();
    return true;
  }
  if (workers_.size() < max_threads_ + reserved_) return spawn(connection);
  queue_.push_back(std::move(connection));  // a thread that lingers takes it within its linger time
  return true;
}

bool WorkerPool::spawn(std::unique_ptr<Connection>& connection) {
  workers_.emplace_front(new Worker(*this));
  const Workers::iterator self = workers_.begin();
  try {
    (*self)->thread_ = std::thread([this, self] { run(self); });  // waits for the lock we hold
  } catch (const std::system_error&) {
    workers_.erase(self);  // the system has no thread for us: the same as no room
    return false;
  }
  ++running_;
  (*self)->fd_ = connection->fd();
  (*self)->job_ = std::move(connection);
  return true;
}

void WorkerPool::run(Workers::iterator self) {
  Worker& worker = **self;
  const Serve serve = make_serve_();
  std::unique_lock lock(mutex_);
  while (next_job(worker, lock)) {
    std::unique_ptr<Connection> connection = std::move(worker.job_);
    lock.unlock();
    serve(worker, std::move(connection));
    lock.lock();
  }
  finished_.splice(finished_.end(), workers_, self);
  quiet_.notify_all();
}

bool WorkerPool::next_job(Worker& worker, std::unique_lock<std::mutex>& lock) {
  if (worker.job_) return true;
  if (!queue_.empty()) {
    worker.job_ = std::move(queue_.front());
    queue_.pop_front();
    ++running_;
    worker.fd_ = worker.job_->fd();
    return true;
  }
  if (stop_) return false;
  waiting_.push_back(&worker);
  worker.wake_.wait_for(lock, idle_time_, [&] { return worker.job_ != nullptr || stop_; });
  if (worker.job_) return true;
  waiting_.erase(std::find(waiting_.begin(), waiting_.end(), &worker));
  return false;
}

void WorkerPool::Worker::end_request() {
  const std::lock_guard lock(pool_.mutex_);
  fd_ = -1;
  if (--pool_.running_ == 0) pool_.quiet_.notify_all();
}

bool WorkerPool::Worker::begin_request(int fd, bool cheap) {
  const std::lock_guard lock(pool_.mutex_);
  if (!pool_.has_room(cheap)) return false;
  ++pool_.running_;
  fd_ = fd;
  return true;
}

bool WorkerPool::Worker::may_linger() const {
  const std::lock_guard lock(pool_.mutex_);
  const std::size_t taken = pool_.workers_.size() - pool_.waiting_.size();
  return !pool_.stop_ && pool_.queue_.empty() && taken < pool_.max_threads_;
}

bool WorkerPool::wait_idle(std::chrono::steady_clock::time_point deadline) {
  std::unique_lock lock(mutex_);
  return quiet_.wait_until(lock, deadline, [&] { return running_ == 0 && queue_.empty(); });
}

void WorkerPool::shutdown_running() {
  const std::lock_guard lock(mutex_);
  for (const auto& worker : workers_) {
    if (worker->fd_ >= 0) ::shutdown(worker->fd_, SHUT_RDWR);
  }
  for (const auto& connection : queue_) ::shutdown(connection->fd(), SHUT_RDWR);
}

void WorkerPool::join() {
  std::unique_lock lock(mutex_);
  stop_ = true;
  for (const auto& worker : workers_) worker->wake_.notify_one();
  quiet_.wait(lock, [&] { return workers_.empty(); });
  for (const auto& worker : finished_) worker->thread_.join();
  finished_.clear();
}

std::size_t WorkerPool::threads() const {
  const std::lock_guard lock(mutex_);
  return workers_.size();
}

std::size_t WorkerPool::busy() const {
  const std::lock_guard lock(mutex_);
  return running_;
}

}  // namespace rookery::server::http

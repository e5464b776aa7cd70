// SPDX-License-Identifier: Apache-2.0
#include "server/http/poller.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "server/http/fixed_response.h"
#include "sys/error.h"

namespace rookery::server::http {

namespace {

constexpr Milliseconds kLeaveTime{5'000};
constexpr Milliseconds kAcceptPause{100};
// A client in the middle of an upload reads our refusal only when it has sent what it wanted to.
constexpr std::size_t kMaxDiscard = 256 * 1024 * 1024;
constexpr int kAcceptBatch = 64;
// Event data: a connection's descriptor and generation, so that an event of a connection that was closed
// meanwhile is not taken for one of its successor. Generations start at 1, which keeps these two apart.
constexpr std::uint64_t kListener = 0;
constexpr std::uint64_t kWake = 1;

std::uint64_t event_key(int fd, std::uint32_t generation) {
  return std::uint64_t{generation} << 32 | static_cast<std::uint32_t>(fd);
}

// None of these can make the connection unsafe, and not every kind of socket has them all.
void set_client_options(int fd, Milliseconds linger) noexcept {
  const int on = 1;
  ::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  // A client that vanished without a word is noticed by a handler that waits: 30 s, then 3 tries.
  const int idle = 30;
  const int interval = 10;
  const int tries = 3;
  ::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof idle);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof interval);
  ::setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &tries, sizeof tries);
  // For a worker's wait for the next request; zero would mean for ever.
  const auto microseconds = std::max<long>(1000, std::chrono::microseconds(linger).count());
  const timeval wait{microseconds / 1'000'000, microseconds % 1'000'000};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
}

}  // namespace

Poller::Poller(sys::UniqueFd listener, const Limits& limits, Dispatch dispatch, Refused refused)
    : listener_(std::move(listener)),
      epoll_(sys::check(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")),
      event_(sys::check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      limits_(limits),
      dispatch_(std::move(dispatch)),
      refused_(std::move(refused)),
      idle_{{}, limits.idle_timeout},
      heads_{{}, limits.header_timeout},
      leaving_{{}, kLeaveTime} {
  const int flags = sys::check(::fcntl(listener_.get(), F_GETFL), "read the listener's flags");
  sys::check(::fcntl(listener_.get(), F_SETFL, flags | O_NONBLOCK), "make the listener non-blocking");
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.u64 = kWake;
  sys::check(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, event_.get(), &event), "watch the event descriptor");
  event.data.u64 = kListener;
  sys::check(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, listener_.get(), &event), "watch the listener");
  thread_ = std::thread([this] { run(); });
}

void Poller::wake() noexcept {
  const std::uint64_t one = 1;
  // Fails only when the counter is full, and then the poller is awake.
  [[maybe_unused]] const ssize_t written = ::write(event_.get(), &one, sizeof one);
}

void Poller::drain() noexcept {
  draining_ = true;
  wake();
}

void Poller::stop() noexcept {
  stopping_ = true;
  drain();
  if (thread_.joinable()) thread_.join();
}

void Poller::hand_over(Holder connection, bool leaving) {
  if (leaving) connection->consume(connection->buffered().size());
  connection->shrink();
  {
    const std::lock_guard lock(mutex_);
    handed_over_.emplace_back(std::move(connection), leaving);
  }
  wake();
}

void Poller::run() {
  std::array<epoll_event, 256> events;
  while (!stopping_) {
    const int count = ::epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), timeout(Clock::now()));
    for (int i = 0; i < count; ++i) {
      const std::uint64_t key = events[static_cast<std::size_t>(i)].data.u64;
      if (key == kListener) {
        accept_some();
      } else if (key == kWake) {
        std::uint64_t value;
        [[maybe_unused]] const ssize_t got = ::read(event_.get(), &value, sizeof value);
        take_over();
      } else {
        const auto fd = static_cast<std::size_t>(key & 0xffffffff);
        Connection* connection = fd < by_fd_.size() ? by_fd_[fd] : nullptr;
        if (connection != nullptr && connection->generation_ == key >> 32) readable(*connection);
      }
    }
    expire(Clock::now());
  }
  for (TimedList* list : {&idle_, &heads_, &leaving_}) list->members.clear();
  const std::lock_guard lock(mutex_);
  handed_over_.clear();
}

int Poller::timeout(Clock::time_point now) const {
  Clock::time_point next = accept_again_;
  for (const TimedList* list : {&idle_, &heads_, &leaving_}) {
    if (!list->members.empty()) next = std::min(next, list->members.front()->deadline_);
  }
  if (next == Clock::time_point::max()) return -1;
  return static_cast<int>(std::max<std::int64_t>(0, std::chrono::ceil<Milliseconds>(next - now).count()));
}

void Poller::take_over() {
  std::vector<std::pair<Holder, bool>> arrivals;
  {
    const std::lock_guard lock(mutex_);
    arrivals.swap(handed_over_);
  }
  for (auto& [connection, leaving] : arrivals) {
    if (leaving) {
      ::shutdown(connection->fd(), SHUT_WR);
      adopt(std::move(connection), leaving_);
    } else if (!draining_) {
      Connection& parked = *connection;
      const bool begun = !parked.buffered().empty();
      adopt(std::move(connection), begun ? heads_ : idle_);
    }
  }
  if (draining_ && listener_) {
    accepting(false);
    accept_again_ = Clock::time_point::max();
    listener_.reset();
    idle_.members.clear();
    heads_.members.clear();
    pending_bytes_ = 0;
    std::fill(by_fd_.begin(), by_fd_.end(), nullptr);
    for (const Holder& connection : leaving_.members) by_fd_[static_cast<std::size_t>(connection->fd())] = connection.get();
  }
}

void Poller::adopt(Holder connection, TimedList& list) {
  Connection& adopted = *connection;
  const auto fd = static_cast<std::size_t>(adopted.fd());
  if (by_fd_.size() <= fd) by_fd_.resize(fd + 1, nullptr);
  const bool known = adopted.generation_ != 0;
  if (!known) {
    if (++generation_ == 0) ++generation_;
    adopted.generation_ = generation_;
  }
  by_fd_[fd] = &adopted;
  adopted.list_ = &list.members;
  adopted.place_ = list.members.insert(list.members.end(), std::move(connection));
  adopted.deadline_ = Clock::now() + list.time_to_live;
  if (&list == &heads_) pending_bytes_ += adopted.buffered().size();
  // One event at a time: while a worker has the connection, epoll says nothing about it.
  arm(adopted, known ? EPOLL_CTL_MOD : EPOLL_CTL_ADD);
}

void Poller::arm(Connection& connection, int operation) {
  epoll_event event{};
  event.events = EPOLLIN | EPOLLRDHUP | EPOLLONESHOT;
  event.data.u64 = event_key(connection.fd(), connection.generation_);
  // ENOMEM or the user's watch limit: a connection that cannot be watched cannot be kept.
  if (::epoll_ctl(epoll_.get(), operation, connection.fd(), &event) != 0) remove(connection);
}

void Poller::move(Connection& connection, TimedList& list) {
  list.members.splice(list.members.end(), *connection.list_, connection.place_);
  connection.list_ = &list.members;
  connection.deadline_ = Clock::now() + list.time_to_live;
}

Poller::Holder Poller::remove(Connection& connection) {
  if (connection.list_ == &heads_.members) pending_bytes_ -= connection.buffered().size();
  by_fd_[static_cast<std::size_t>(connection.fd())] = nullptr;
  Holder holder = std::move(*connection.place_);
  connection.list_->erase(connection.place_);
  connection.list_ = nullptr;
  return holder;
}

void Poller::accepting(bool on) noexcept {
  epoll_event event{};
  event.events = on ? static_cast<std::uint32_t>(EPOLLIN) : 0U;
  event.data.u64 = kListener;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, listener_.get(), &event);
}

void Poller::accept_some() {
  for (int i = 0; i < kAcceptBatch && listener_; ++i) {
    sys::UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
    if (!fd) {
      if (errno == EINTR || errno == ECONNABORTED) continue;
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      // No descriptors or memory left: make room, or leave new clients in the backlog for a moment.
      if (!close_oldest()) {
        accepting(false);
        accept_again_ = Clock::now() + kAcceptPause;
        return;
      }
      continue;
    }
    auto connection = std::make_unique<Connection>(std::move(fd), traffic_);
    set_client_options(connection->fd(), limits_.linger);
    if (traffic_.connections.load(std::memory_order_relaxed) > limits_.max_connections && !close_oldest()) {
      connection->send_now(fixed_response(
          HttpError::with_detail(503, "too many connections", {{"Retry-After", "1"}}), true));
      continue;
    }
    adopt(std::move(connection), heads_);
  }
}

// Whoever has kept a place without using it for longest gives it up.
bool Poller::close_oldest() {
  for (TimedList* list : {&idle_, &heads_, &leaving_}) {
    if (list->members.empty()) continue;
    remove(*list->members.front());
    return true;
  }
  return false;
}

void Poller::readable(Connection& connection) {
  if (connection.list_ == &leaving_.members) return discard(connection);
  const std::size_t before = connection.buffered().size();
  switch (connection.receive(MSG_DONTWAIT)) {
    case Io::kTimeout:
      return arm(connection, EPOLL_CTL_MOD);
    case Io::kClosed:
      remove(connection);
      return;
    case Io::kDone:
      break;
  }
  if (connection.list_ == &idle_.members) move(connection, heads_);
  pending_bytes_ += connection.buffered().size() - before;
  received(connection);
}

void Poller::received(Connection& connection) {
  if (connection.scan() == HeadScanner::Result::kMore) {
    arm(connection, EPOLL_CTL_MOD);
    while (pending_bytes_ > limits_.max_pending_head_bytes && !heads_.members.empty()) {
      remove(*heads_.members.front());
    }
    return;
  }
  Holder holder = remove(connection);
  if (!dispatch_(holder)) refuse(std::move(holder), 503, "server busy");
}

void Poller::refuse(Holder connection, int status, std::string_view detail) {
  Fields fields;
  if (status == 503) fields.emplace_back("Retry-After", "1");
  connection->send_now(fixed_response(HttpError::with_detail(status, detail, std::move(fields)), true));
  refused_(status);
  ::shutdown(connection->fd(), SHUT_WR);
  connection->consume(connection->buffered().size());
  connection->shrink();
  adopt(std::move(connection), leaving_);
}

void Poller::discard(Connection& connection) {
  std::array<char, 64 * 1024> scratch;
  // MSG_TRUNC: TCP drops the bytes without copying them (tcp(7)).
  const ssize_t size = ::recv(connection.fd(), scratch.data(), scratch.size(), MSG_DONTWAIT | MSG_TRUNC);
  const bool waiting = size < 0 && (errno == EAGAIN || errno == EINTR);
  if (size > 0) connection.discarded_ += static_cast<std::size_t>(size);
  if ((size > 0 || waiting) && connection.discarded_ <= kMaxDiscard) return arm(connection, EPOLL_CTL_MOD);
  remove(connection);
}

void Poller::expire(Clock::time_point now) {
  if (accept_again_ <= now) {
    accept_again_ = Clock::time_point::max();
    accepting(true);
  }
  for (TimedList* list : {&idle_, &leaving_}) {
    while (!list->members.empty() && list->members.front()->deadline_ <= now) remove(*list->members.front());
  }
  while (!heads_.members.empty() && heads_.members.front()->deadline_ <= now) {
    Holder connection = remove(*heads_.members.front());
    if (!connection->buffered().empty()) refuse(std::move(connection), 408, "the request head came too slowly");
  }
}

}  // namespace rookery::server::http

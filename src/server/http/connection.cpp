// SPDX-License-Identifier: Apache-2.0
#include "server/http/connection.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <array>
#include <cerrno>

namespace rookery::server::http {

namespace {
constexpr std::size_t kReceive = 16 * 1024;
}

Connection::Connection(sys::UniqueFd fd, Traffic& traffic) noexcept : fd_(std::move(fd)), traffic_(traffic) {
  traffic_.connections.fetch_add(1, std::memory_order_relaxed);
}

Connection::~Connection() { traffic_.connections.fetch_sub(1, std::memory_order_relaxed); }

void Connection::consume(std::size_t count) noexcept {
  start_ += count;
  if (start_ < in_.size()) return;
  in_.clear();
  start_ = 0;
}

void Connection::shrink() {
  in_.erase(0, start_);
  start_ = 0;
  in_.shrink_to_fit();
}

std::variant<RequestHead, HeadError> Connection::take_head() {
  const HeadScanner scanner = std::exchange(scanner_, {});
  if (scanner.error().status != 0) return scanner.error();
  const std::size_t skipped = scanner.skipped();
  auto head = parse_request_head(buffered().substr(skipped, scanner.length() - skipped));
  consume(scanner.length());
  return head;
}

Io Connection::receive(int flags) {
  if (start_ > 0) {
    in_.erase(0, start_);
    start_ = 0;
  }
  std::array<char, kReceive> bytes;
  for (;;) {
    const ssize_t size = ::recv(fd(), bytes.data(), bytes.size(), flags);
    if (size > 0) {
      in_.append(bytes.data(), static_cast<std::size_t>(size));
      traffic_.received.fetch_add(static_cast<std::uint64_t>(size), std::memory_order_relaxed);
      return Io::kDone;
    }
    if (size < 0 && errno == EINTR) continue;
    return size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK) ? Io::kTimeout : Io::kClosed;
  }
}

Io Connection::wait(short events, Pace& pace) noexcept {
  const Pace::Milliseconds allowance = pace.allowance();
  if (allowance.count() <= 0) return Io::kTimeout;
  const auto before = std::chrono::steady_clock::now();
  pollfd entry{fd(), events, 0};
  const int ready = ::poll(&entry, 1, static_cast<int>(allowance.count()));
  pace.waited += std::chrono::duration_cast<Pace::Microseconds>(std::chrono::steady_clock::now() - before);
  if (ready == 0) return Io::kTimeout;
  return ready < 0 && errno != EINTR ? Io::kClosed : Io::kDone;
}

Io Connection::receive(std::span<char> to, Pace& pace, std::size_t& size) noexcept {
  for (;;) {
    const ssize_t received = ::recv(fd(), to.data(), to.size(), MSG_DONTWAIT);
    if (received > 0) {
      size = static_cast<std::size_t>(received);
      pace.bytes += size;
      traffic_.received.fetch_add(size, std::memory_order_relaxed);
      return Io::kDone;
    }
    if (received < 0 && errno == EINTR) continue;
    if (received == 0 || (errno != EAGAIN && errno != EWOULDBLOCK)) return Io::kClosed;
    if (const Io io = wait(POLLIN, pace); io != Io::kDone) return io;
  }
}

Io Connection::send(std::string_view first, std::string_view second, Pace& pace) noexcept {
  while (!first.empty() || !second.empty()) {
    iovec parts[2] = {{const_cast<char*>(first.data()), first.size()},
                      {const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = first.empty() ? parts + 1 : parts;
    message.msg_iovlen = first.empty() || second.empty() ? 1 : 2;
    const ssize_t sent = ::sendmsg(fd(), &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) {
      const auto count = static_cast<std::size_t>(sent);
      pace.bytes += count;
      traffic_.sent.fetch_add(count, std::memory_order_relaxed);
      const std::size_t of_first = std::min(count, first.size());
      first.remove_prefix(of_first);
      second.remove_prefix(count - of_first);
      continue;
    }
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK) return Io::kClosed;
    if (const Io io = wait(POLLOUT, pace); io != Io::kDone) return io;
  }
  return Io::kDone;
}

void Connection::send_now(std::string_view bytes) noexcept {
  ssize_t sent;
  do {
    sent = ::send(fd(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent > 0) traffic_.sent.fetch_add(static_cast<std::uint64_t>(sent), std::memory_order_relaxed);
}

}  // namespace rookery::server::http

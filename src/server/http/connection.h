// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "server/http/pace.h"
#include "server/http/request_head.h"
#include "sys/unique_fd.h"

namespace rookery::server::http {

enum class Io { kDone, kClosed, kTimeout };

// Of all connections of one server.
struct Traffic {
  std::atomic<std::size_t> connections{0};  // open
  std::atomic<std::uint64_t> received{0};   // bytes
  std::atomic<std::uint64_t> sent{0};
};

// One client: its socket and the bytes that came but were not used yet. It belongs to the poller or to
// one worker, never to both, so nothing in it is locked.
class Connection {
 public:
  // `traffic` has to outlive the connection.
  Connection(sys::UniqueFd fd, Traffic& traffic) noexcept;
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

  [[nodiscard]] std::string_view buffered() const noexcept { return std::string_view(in_).substr(start_); }
  void consume(std::size_t count) noexcept;
  void push_back(char byte) { in_.push_back(byte); }
  // Gives memory back while the client is silent; what is buffered stays.
  void shrink();

  // Looks for a head in what is buffered.
  HeadScanner::Result scan() noexcept { return scanner_.scan(buffered()); }
  [[nodiscard]] const HeadScanner& scanner() const noexcept { return scanner_; }
  // Takes a complete head out of the buffer, and starts to look for the next.
  std::variant<RequestHead, HeadError> take_head();

  // One recv() into the buffer. With MSG_DONTWAIT in `flags` it never waits, else at most SO_RCVTIMEO.
  // kTimeout: nothing there.
  Io receive(int flags);
  // The next bytes straight from the socket, waiting as `pace` allows. `size` gets how many.
  Io receive(std::span<char> to, Pace& pace, std::size_t& size) noexcept;
  // Sends both, one after the other, waiting as `pace` allows.
  Io send(std::string_view first, std::string_view second, Pace& pace) noexcept;
  // Sends what the socket takes at once. For small answers to clients we are about to leave.
  void send_now(std::string_view bytes) noexcept;

 private:
  friend class Poller;

  Io wait(short events, Pace& pace) noexcept;

  sys::UniqueFd fd_;
  Traffic& traffic_;
  std::string in_;
  std::size_t start_ = 0;
  HeadScanner scanner_;

  // The poller's: in which of its lists, where, and until when.
  using List = std::list<std::unique_ptr<Connection>>;
  List::iterator place_;
  List* list_ = nullptr;
  std::chrono::steady_clock::time_point deadline_;
  std::uint32_t generation_ = 0;
  std::size_t discarded_ = 0;
};

}  // namespace rookery::server::http

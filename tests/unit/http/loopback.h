// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "server/http/http_server.h"
#include "sys/unique_fd.h"

namespace rookery::server::http::testing {

// A server on a free port of 127.0.0.1 whose routes answer as the handler in loopback.cpp says.
class TestServer {
 public:
  explicit TestServer(const Limits& limits = {}, Hooks hooks = {});
  [[nodiscard]] std::uint16_t port() const noexcept { return port_; }
  HttpServer* operator->() noexcept { return server_.get(); }
  // Waits for a counter to come down; connections and threads end a moment after the client's side did.
  [[nodiscard]] bool settles(std::size_t Counters::* counter, std::size_t at_most);

 private:
  std::uint16_t port_ = 0;
  std::unique_ptr<HttpServer> server_;
};

// A raw client.
class Client {
 public:
  explicit Client(const TestServer& server);
  void send(std::string_view bytes);
  // All that comes until `ending` was seen, the peer closed, or `wait` passed without a byte.
  std::string receive(std::string_view ending, std::chrono::milliseconds wait = std::chrono::seconds(5));
  // Sends and takes one response; the body must be whole.
  std::string exchange(std::string_view bytes);
  // One response: head and Content-Length bytes.
  std::string response();
  // True when the peer closes within `wait`, with nothing but what was already received before.
  [[nodiscard]] bool closes(std::chrono::milliseconds wait = std::chrono::seconds(5));
  void half_close();
  void reset();  // RST
  [[nodiscard]] int fd() const noexcept { return fd_.get(); }

 private:
  bool fill(std::chrono::milliseconds wait);
  sys::UniqueFd fd_;
  std::string in_;
};

// "HTTP/1.1 200 OK..." -> 200; 0 for anything else.
[[nodiscard]] int status(std::string_view response);
// The whole exchange on a connection of its own.
[[nodiscard]] std::string ask(const TestServer& server, std::string_view bytes);
[[nodiscard]] std::string exec_request(std::string_view body, std::string_view fields = "");

}  // namespace rookery::server::http::testing

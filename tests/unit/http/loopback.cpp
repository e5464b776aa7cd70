// SPDX-License-Identifier: Apache-2.0
#include "loopback.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <stdexcept>
#include <thread>
#include <vector>

#include "sys/error.h"

namespace rookery::server::http::testing {

namespace {

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

sys::UniqueFd tcp_socket() {
  return sys::UniqueFd(sys::check(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), "socket"));
}

// exec: echoes the body. put_file: reads in pieces and tells the size. get_file: ?path= picks a behaviour.
void handle(Request& request, Response& response) {
  switch (request.route) {
    case Route::kExec:
      response.body = request.body.read_all(1024 * 1024);
      if (response.body == "\"throw\"") throw std::runtime_error("secret");
      if (response.body == "\"wait\"") {
        pollfd client{request.client_fd, 0, 0};
        response.body = ::poll(&client, 1, 5000) > 0 ? "\"gone\"" : "\"still there\"";
      }
      return;
    case Route::kPutFile: {
      std::vector<char> piece(64 * 1024);
      std::size_t total = 0;
      while (const std::size_t size = request.body.read(piece)) total += size;
      response.status = 201;
      response.body = std::to_string(total);
      return;
    }
    case Route::kGetFile: {
      const std::string path = request.head.query.at("path");
      response.content_type = "text/plain";
      const std::uint64_t size = path == "empty" ? 0 : 300'000;
      const bool shrinks = path == "shrinks";
      response.stream = StreamedBody{size, [shrinks](std::uint64_t offset, std::uint64_t length, const Sink& sink) {
                                       if (shrinks && offset >= 100'000) return false;
                                       return sink(std::string(std::min<std::uint64_t>(length, 50'000), 'x'));
                                     }};
      if (path == "header") response.fields = {{"X-Evil", "a\r\nX-Injected: 1"}};
      return;
    }
    case Route::kDeleteSession:
      response.status = 204;
      return;
    case Route::kCreateSession:
      throw HttpError::with_detail(503, "full", {{"Retry-After", "1"}});
    default:
      response.body = "{\"status\":\"ok\"}";
  }
}

}  // namespace

TestServer::TestServer(const Limits& limits, Hooks hooks) {
  sys::UniqueFd listener = tcp_socket();
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof address;
  sys::check(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), "bind");
  sys::check(::listen(listener.get(), 1024), "listen");
  sys::check(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size), "getsockname");
  port_ = ntohs(address.sin_port);
  if (!hooks.handler) hooks.handler = handle;
  server_ = std::make_unique<HttpServer>(std::move(listener), limits, std::move(hooks));
}

bool TestServer::settles(std::size_t Counters::* counter, std::size_t at_most) {
  for (int i = 0; i < 500; ++i) {
    if (server_->counters().*counter <= at_most) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return false;
}

Client::Client(const TestServer& server) : fd_(tcp_socket()) {
  sockaddr_in address = loopback(server.port());
  sys::check(::connect(fd_.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), "connect");
}

void Client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return;  // the server closed early; what it answered is what the test looks at
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
}

bool Client::fill(std::chrono::milliseconds wait) {
  pollfd entry{fd_.get(), POLLIN, 0};
  if (::poll(&entry, 1, static_cast<int>(wait.count())) <= 0) return false;
  char bytes[16 * 1024];
  const ssize_t size = ::recv(fd_.get(), bytes, sizeof bytes, 0);
  if (size <= 0) return false;
  in_.append(bytes, static_cast<std::size_t>(size));
  return true;
}

std::string Client::receive(std::string_view ending, std::chrono::milliseconds wait) {
  std::size_t at;
  while ((at = in_.find(ending)) == std::string::npos) {
    if (!fill(wait)) return std::exchange(in_, {});
  }
  std::string result = in_.substr(0, at + ending.size());
  in_.erase(0, at + ending.size());
  return result;
}

std::string Client::response() {
  std::string text = receive("\r\n\r\n");
  const std::size_t at = text.find("Content-Length: ");
  if (at == std::string::npos) return text;
  const std::size_t length = std::stoul(text.substr(at + 16));
  while (in_.size() < length && fill(std::chrono::seconds(5))) {
  }
  text += in_.substr(0, length);
  in_.erase(0, length);
  return text;
}

std::string Client::exchange(std::string_view bytes) {
  send(bytes);
  return response();
}

bool Client::closes(std::chrono::milliseconds wait) {
  pollfd entry{fd_.get(), POLLIN, 0};
  if (!in_.empty() || ::poll(&entry, 1, static_cast<int>(wait.count())) <= 0) return false;
  char byte;
  return ::recv(fd_.get(), &byte, 1, 0) <= 0;
}

void Client::half_close() { ::shutdown(fd_.get(), SHUT_WR); }

void Client::reset() {
  const linger now{1, 0};
  ::setsockopt(fd_.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  fd_.reset();
}

int status(std::string_view response) {
  if (!response.starts_with("HTTP/1.1 ") || response.size() < 12) return 0;
  return std::stoi(std::string(response.substr(9, 3)));
}

std::string ask(const TestServer& server, std::string_view bytes) { return Client(server).exchange(bytes); }

std::string exec_request(std::string_view body, std::string_view fields) {
  return "POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n" + std::string(fields) + "\r\n" + std::string(body);
}

}  // namespace rookery::server::http::testing

// SPDX-License-Identifier: Apache-2.0
// client HOST PORT TARGET BODY COUNT: posts BODY again and again on one connection, or gets TARGET if BODY is empty, and prints the
// microseconds of each.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

char part[1 << 18];

// Reads one response with a Content-Length, and its body into memory that stays in the caches. False when the peer closed or it says no.
bool read_response(int socket) {
  std::string head;
  std::size_t end;
  while ((end = head.find("\r\n\r\n")) == std::string::npos) {
    const ssize_t count = ::recv(socket, part, sizeof part, 0);
    if (count <= 0) return false;
    head.append(part, static_cast<std::size_t>(count));
  }
  // strcasestr knows no length: the buffer ends with a NUL, and a field behind the head is not taken.
  const char* name = ::strcasestr(head.c_str(), "\r\ncontent-length:");
  if (name == nullptr || static_cast<std::size_t>(name - head.c_str()) > end) return false;
  std::size_t length = std::strtoul(name + 17, nullptr, 10) + end + 4 - head.size();
  while (length > 0) {
    const ssize_t count = ::recv(socket, part, std::min(length, sizeof part), 0);
    if (count <= 0) return false;
    length -= static_cast<std::size_t>(count);
  }
  return head.compare(9, 1, "2") == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) return 2;
  const int socket = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(std::atoi(argv[2])));
  ::inet_pton(AF_INET, argv[1], &address.sin_addr);
  const int on = 1;
  ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) return 1;
  const std::string body = argv[4];
  const std::string fields = body.empty() ? "" : "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size());
  const std::string request = std::string(body.empty() ? "GET " : "POST ") + argv[3] + " HTTP/1.1\r\nHost: " + argv[1] + ":" + argv[2] + fields + "\r\n\r\n" + body;
  for (int i = 0; i < std::atoi(argv[5]); ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return 1;
    if (!read_response(socket)) return 1;
    std::printf("%.1f\n", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  ::close(socket);
}

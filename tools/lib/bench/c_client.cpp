// SPDX-License-Identifier: Apache-2.0
// client HOST PORT TARGET BODY COUNT: posts BODY again and again on one connection and prints the microseconds of each.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>

namespace {

// Reads one response with a Content-Length. False when the peer closed or it is not 200.
bool read_response(int socket, std::string& buffer) {
  buffer.clear();
  std::size_t head = std::string::npos, length = 0;
  char part[65536];
  while (head == std::string::npos || buffer.size() < head + 4 + length) {
    const ssize_t count = ::recv(socket, part, sizeof part, 0);
    if (count <= 0) return false;
    buffer.append(part, static_cast<std::size_t>(count));
    if (head != std::string::npos) continue;
    head = buffer.find("\r\n\r\n");
    if (head == std::string::npos) continue;
    // strcasestr knows no length: the buffer ends with a NUL, and a field behind the head is not taken.
    const char* name = ::strcasestr(buffer.c_str(), "\r\ncontent-length:");
    if (name == nullptr || static_cast<std::size_t>(name - buffer.c_str()) > head) return false;
    length = std::strtoul(name + 17, nullptr, 10);
  }
  return buffer.compare(9, 3, "200") == 0;
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
  const std::string request = std::string("POST ") + argv[3] + " HTTP/1.1\r\nHost: " + argv[1] + ":" + argv[2] +
                              "\r\nContent-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body;
  std::string buffer;
  for (int i = 0; i < std::atoi(argv[5]); ++i) {
    const auto start = std::chrono::steady_clock::now();
    if (::send(socket, request.data(), request.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(request.size())) return 1;
    if (!read_response(socket, buffer)) return 1;
    std::printf("%.1f\n", std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  ::close(socket);
}

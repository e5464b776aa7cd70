// SPDX-License-Identifier: Apache-2.0
// file_floor: takes 100 MB into memory and gives them from there with as few system calls and copies as a socket needs. (A bare cpp-httplib
// is slower than a good backend at that: it takes a body by 4 KiB.) Prints its port and serves as long as its parent lives.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <thread>

namespace {

constexpr std::size_t kFile = 100'000'000;  // bytes
thread_local char memory[1 << 20];

// False when the peer is gone.
bool send_all(int socket, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t sent = ::send(socket, data, size, MSG_NOSIGNAL);
    if (sent <= 0) return false;
    data += sent;
    size -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Takes a request, whatever it is, and gives the file to a GET, to another a session.
bool answer(int socket) {
  std::string head;
  std::size_t end;
  while ((end = head.find("\r\n\r\n")) == std::string::npos) {
    const ssize_t size = ::recv(socket, memory, sizeof memory, 0);
    if (size <= 0) return false;
    head.append(memory, static_cast<std::size_t>(size));
  }
  const std::size_t length = head.find("Content-Length: ");
  std::size_t left = length < end ? std::stoul(head.substr(length + 16)) - (head.size() - end - 4) : 0;
  while (left > 0) {
    const ssize_t size = ::recv(socket, memory, std::min(left, sizeof memory), 0);
    if (size <= 0) return false;
    left -= static_cast<std::size_t>(size);
  }
  const std::string status = "HTTP/1.1 201 Created\r\nContent-Length: ";
  if (!head.starts_with("GET")) {
    const std::string session = R"({"session_id":"floor"})", whole = status + std::to_string(session.size()) + "\r\n\r\n" + session;
    return send_all(socket, whole.data(), whole.size());
  }
  const std::string first = status + std::to_string(kFile) + "\r\n\r\n";
  if (!send_all(socket, first.data(), first.size())) return false;
  for (left = kFile; left > 0; left -= std::min(left, sizeof memory)) {
    if (!send_all(socket, memory, std::min(left, sizeof memory))) return false;
  }
  return true;
}

}  // namespace

int main() {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  if (::bind(listener, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listener, 16) != 0 ||
      ::getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    return 1;
  }
  std::printf("%d\n", ntohs(address.sin_port));
  std::fflush(stdout);
  for (int socket; (socket = ::accept(listener, nullptr, nullptr)) >= 0;) {
    std::thread([socket] {
      while (answer(socket)) {
      }
      ::close(socket);
    }).detach();
  }
}

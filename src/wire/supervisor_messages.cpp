// SPDX-License-Identifier: Apache-2.0
#include "wire/supervisor_messages.h"

#include <sys/socket.h>
#include <sys/types.h>

#include <cerrno>
#include <stdexcept>
#include <system_error>

namespace rookery::wire {

void send_to_supervised(int socket, SupervisorMessage kind, std::string_view text) {
  if (text.size() > kMaxSupervisorText) throw std::length_error("a message to the server is too long");
  const std::string packet = static_cast<char>(kind) + std::string(text);
  ssize_t sent;
  do {
    sent = ::send(socket, packet.data(), packet.size(), MSG_NOSIGNAL);
  } while (sent < 0 && errno == EINTR);
  if (sent < 0) throw std::system_error(errno, std::generic_category(), "send to the server");
}

std::optional<FromSupervisor> receive_from_supervisor(int socket) {
  std::string buffer(1 + kMaxSupervisorText, '\0');
  ssize_t size;
  do {
    size = ::recv(socket, buffer.data(), buffer.size(), MSG_TRUNC);
  } while (size < 0 && errno == EINTR);
  if (size < 1 || static_cast<std::size_t>(size) > buffer.size()) return std::nullopt;
  buffer.resize(static_cast<std::size_t>(size));
  FromSupervisor message{static_cast<SupervisorMessage>(buffer.front()), buffer.substr(1)};
  switch (message.kind) {
    case SupervisorMessage::kOneToken:
    case SupervisorMessage::kTokens:
    case SupervisorMessage::kProblem:
    case SupervisorMessage::kReady: return message;
  }
  return std::nullopt;
}

}  // namespace rookery::wire

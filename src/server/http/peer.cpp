// SPDX-License-Identifier: Apache-2.0
#include "server/http/peer.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace rookery::server::http {

bool peer_is_local(int client_fd) noexcept {
  sockaddr_storage peer{};
  socklen_t size = sizeof peer;
  if (::getpeername(client_fd, reinterpret_cast<sockaddr*>(&peer), &size) != 0) return false;
  if (peer.ss_family == AF_UNIX) return true;
  if (peer.ss_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, &peer, sizeof address);
    return (ntohl(address.sin_addr.s_addr) >> 24) == IN_LOOPBACKNET;
  }
  if (peer.ss_family != AF_INET6) return false;
  sockaddr_in6 address{};
  std::memcpy(&address, &peer, sizeof address);
  if (IN6_IS_ADDR_LOOPBACK(&address.sin6_addr)) return true;
  return IN6_IS_ADDR_V4MAPPED(&address.sin6_addr) && address.sin6_addr.s6_addr[12] == IN_LOOPBACKNET;
}

}  // namespace rookery::server::http

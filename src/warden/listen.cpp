// SPDX-License-Identifier: Apache-2.0
#include "warden/listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "sys/error.h"

namespace rookery::warden {

namespace {

constexpr int kBacklog = 4096;

sys::UniqueFd listen_on_tcp(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string where = host + ":" + std::to_string(port);
  if (const int error = ::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found); error != 0) {
    throw std::runtime_error("cannot listen on " + where + ": " + ::gai_strerror(error));
  }
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(found, &::freeaddrinfo);
  int error = 0;
  for (const addrinfo* address = found; address != nullptr; address = address->ai_next) {
    sys::UniqueFd socket(::socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int on = 1;
    if (socket && ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) == 0 &&
        ::bind(socket.get(), address->ai_addr, address->ai_addrlen) == 0 && ::listen(socket.get(), kBacklog) == 0) {
      return socket;
    }
    error = errno;
  }
  throw std::runtime_error("cannot listen on " + where + ": " + std::strerror(error) + " (choose another with --listen HOST:PORT)");
}

// What an earlier server left is replaced; what somebody still listens on, or is no socket, is not.
void remove_stale(const sockaddr_un& address) {
  struct stat info{};
  if (::lstat(address.sun_path, &info) != 0) return;
  const std::string where = std::string("unix:") + address.sun_path;
  if (!S_ISSOCK(info.st_mode)) throw std::runtime_error("cannot listen on " + where + ": there is something else than a socket");
  const sys::UniqueFd probe(sys::check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket"));
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 || errno != ECONNREFUSED) {
    throw std::runtime_error("cannot listen on " + where + ": it is in use");
  }
  sys::check(::unlink(address.sun_path), "remove " + where);
}

sys::UniqueFd listen_on_unix(const std::string& path, mode_t mode) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::runtime_error("cannot listen on unix:" + path + ": a path has at most 107 bytes");
  std::memcpy(address.sun_path, path.data(), path.size());
  remove_stale(address);
  sys::UniqueFd socket(sys::check(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket"));
  const mode_t before = ::umask(~mode & 0777);  // never for a moment more than that
  const int bound = ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::umask(before);
  sys::check(bound, "listen on unix:" + path + " (its directory has to exist)");
  sys::check(::listen(socket.get(), kBacklog), "listen on unix:" + path);
  return socket;
}

}  // namespace

sys::UniqueFd listen_on(util::Settings& settings) {
  if (!settings.listen_path.empty()) {
    return listen_on_unix(settings.listen_path, static_cast<mode_t>(std::strtoul(settings.listen_mode.c_str(), nullptr, 8)));
  }
  sys::UniqueFd socket = listen_on_tcp(settings.listen_host, settings.listen_port);
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  sys::check(::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&address), &size), "look at the listening socket");
  const in_port_t port = address.ss_family == AF_INET6 ? reinterpret_cast<const sockaddr_in6&>(address).sin6_port
                                                       : reinterpret_cast<const sockaddr_in&>(address).sin_port;
  settings.listen_port = ntohs(port);
  return socket;
}

bool is_local(int socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  sys::check(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &size), "look at the listening socket");
  if (address.ss_family == AF_UNIX) return true;
  if (address.ss_family == AF_INET) return ntohl(reinterpret_cast<const sockaddr_in&>(address).sin_addr.s_addr) >> 24 == 127;
  const in6_addr& v6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  return IN6_IS_ADDR_LOOPBACK(&v6) || (IN6_IS_ADDR_V4MAPPED(&v6) && v6.s6_addr[12] == 127);
}

}  // namespace rookery::warden

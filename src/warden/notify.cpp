// SPDX-License-Identifier: Apache-2.0
#include "warden/notify.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "sys/error.h"

namespace rookery::warden {

sys::UniqueFd connect_notify_socket() {
  const char* const given = std::getenv("NOTIFY_SOCKET");
  if (given == nullptr) return {};
  const std::string name = given;
  ::unsetenv("NOTIFY_SOCKET");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (name.size() < 2 || name.size() >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) {
    throw std::runtime_error("NOTIFY_SOCKET=" + name + " is not usable: allowed is a path or @ and a name");
  }
  std::memcpy(address.sun_path, name.data(), name.size());
  if (name[0] == '@') address.sun_path[0] = '\0';  // abstract (unix(7))
  sys::UniqueFd socket(sys::check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make a socket"));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
  sys::check(::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), size), "connect to NOTIFY_SOCKET " + name);
  return socket;
}

}  // namespace rookery::warden

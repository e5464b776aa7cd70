// SPDX-License-Identifier: Apache-2.0
#include "server/http/peer.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

#include "sys/unique_fd.h"

using rookery::server::http::peer_is_local;
using rookery::sys::UniqueFd;

namespace {

// Connects to a listener of its own at `address`; the accepted end's peer has that address too.
template <typename Address>
bool local_when_connected(Address address) {
  const auto* plain = reinterpret_cast<const sockaddr*>(&address);
  const UniqueFd listener(::socket(plain->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::bind(listener.get(), plain, sizeof address) == 0);
  REQUIRE(::listen(listener.get(), 1) == 0);
  socklen_t size = sizeof address;
  REQUIRE(::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size) == 0);
  const UniqueFd client(::socket(plain->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  REQUIRE(::connect(client.get(), plain, sizeof address) == 0);
  const UniqueFd accepted(::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC));
  return peer_is_local(accepted.get());
}

sockaddr_in v4(const char* text) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  REQUIRE(::inet_pton(AF_INET, text, &address.sin_addr) == 1);
  return address;
}

}  // namespace

TEST_CASE("unix sockets and loopback are this machine") {
  int pair[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
  const UniqueFd here(pair[0]), there(pair[1]);
  CHECK(peer_is_local(here.get()));
  CHECK(local_when_connected(v4("127.0.0.1")));
  CHECK(local_when_connected(v4("127.200.0.9")));
}

TEST_CASE("what has no peer, or is no socket, is not") {
  const UniqueFd alone(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  CHECK_FALSE(peer_is_local(alone.get()));
  CHECK_FALSE(peer_is_local(-1));
}

// A datagram socket has a peer without anybody there.
TEST_CASE("addresses elsewhere are not") {
  for (const char* text : {"192.0.2.1", "10.0.0.1", "128.0.0.1", "126.255.255.255"}) {
    sockaddr_in address = v4(text);
    address.sin_port = htons(9);
    const UniqueFd socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) continue;  // no route
    CHECK_FALSE(peer_is_local(socket.get()));
  }
}

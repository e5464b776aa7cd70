// SPDX-License-Identifier: Apache-2.0
// What a server that somebody has taken over can ask of the warden.
#include "warden/requests.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <stdexcept>
#include <string>
#include <vector>

#include "sys/error.h"
#include "sys/socket.h"
#include "wire/message.h"

using namespace rookery;
using namespace rookery::warden;

namespace {

// The warden's side of the channel over a pool without images, so that no request can make a jail.
struct Warden {
  Warden() {
    int ends[2];
    sys::check(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), "socketpair");
    server = sys::UniqueFd(ends[0]);
    requests.emplace(sys::UniqueFd(ends[1]), nullptr);
    context.settings = &settings;
    pool.emplace(context, poller, *requests, images, std::nullopt);
  }

  // "" if the request was served, else why the server is ended for it.
  std::string served(wire::Type type, std::size_t size) {
    wire::Writer message(type, 7);
    message.raw(std::string(size, '\x01'));
    REQUIRE(sys::send_packet(server.get(), message.packet()));
    return serve();
  }
  std::string serve() {
    try {
      const bool open = requests->serve(*pool);
      CHECK(open);
      return "";
    } catch (const std::runtime_error& error) {
      return error.what();
    }
  }
  // The type of the next answer, if there is one.
  std::optional<wire::Type> answer() {
    std::array<std::byte, 4096> buffer;
    const sys::Received received = sys::receive_packet(server.get(), buffer);
    if (received.size <= 0) return std::nullopt;
    const auto message = wire::parse({buffer.data(), static_cast<std::size_t>(received.size)});
    REQUIRE(message);
    CHECK(message->header.nonce == 7);
    return message->header.type;
  }

  util::Settings settings;
  JailContext context;
  Poller poller;
  std::vector<jail::Image> images;
  sys::UniqueFd server;
  std::optional<Requests> requests;
  std::optional<Pool> pool;
};

// Bytes that a request carries: the number of a lease or of an image, nothing that could name a path, a command or an id.
std::optional<std::size_t> size_of(wire::Type type) {
  switch (type) {
    case wire::Type::kLease: return 4;
    case wire::Type::kRestartRepl:
    case wire::Type::kKill:
    case wire::Type::kRelease: return 8;
    case wire::Type::kStats: return 0;
    default: return std::nullopt;
  }
}

}  // namespace

TEST_CASE("a request names a number at most; whatever else the server says ends it") {
  Warden warden;
  for (std::uint16_t number = 0; number < 256; ++number) {
    const auto type = static_cast<wire::Type>(number);
    for (const std::size_t size : {0, 1, 3, 4, 5, 7, 8, 9, 12, 16, 64, 4096, 32 * 1024}) {
      CAPTURE(number);
      CAPTURE(size);
      const std::string why = warden.served(type, size);
      if (!size_of(type)) {
        CHECK(why.ends_with("an unknown request"));
      } else if (size != *size_of(type)) {
        CHECK(why.ends_with("a payload of the wrong size"));
      } else if (type == wire::Type::kLease) {
        CHECK(why.ends_with("an image that does not exist"));
      } else {
        CHECK(why.empty());
        CHECK(warden.answer() == (type == wire::Type::kStats ? wire::Type::kStatistics : wire::Type::kFailed));
      }
      CHECK(warden.answer() == std::nullopt);
    }
  }
}

TEST_CASE("what is no message ends the server") {
  for (const std::size_t size : {1, 23, 24, 100, 60'000}) {
    CAPTURE(size);
    Warden warden;
    const std::vector<std::byte> garbage(size, std::byte{0x5a});
    REQUIRE(sys::send_packet(warden.server.get(), garbage));
    CHECK(warden.serve().ends_with("a malformed message"));
  }
}

TEST_CASE("a channel that the server has closed is told apart from one without requests") {
  Warden warden;
  CHECK(warden.requests->serve(*warden.pool));
  warden.server.reset();
  CHECK_FALSE(warden.requests->serve(*warden.pool));
}

TEST_CASE("descriptors that come with a request reach nobody") {
  Warden warden;
  wire::Writer message(wire::Type::kStats, 7);
  int ends[2];
  sys::check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), "socketpair");
  sys::UniqueFd given(ends[0]);
  const sys::UniqueFd kept(ends[1]);
  REQUIRE(sys::send_packet(warden.server.get(), message.packet(), std::span(ends, 1)));
  given.reset();
  CHECK(warden.serve().empty());
  CHECK(warden.answer() == wire::Type::kStatistics);
  char byte;
  CHECK(::recv(kept.get(), &byte, 1, MSG_DONTWAIT) == 0);  // the last copy of the other end is closed
}

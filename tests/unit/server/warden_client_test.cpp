// SPDX-License-Identifier: Apache-2.0
#include "server/warden_client.h"

#include <doctest/doctest.h>
#include <poll.h>

#include "sys/socket.h"
#include "wire/warden_messages.h"

using namespace rookery;
using namespace std::chrono_literals;

namespace {

// The warden's side, in the test's own hands.
struct Warden {
  sys::UniqueFd channel;

  // The next request's header, and the lease it names where it names one.
  wire::Header next(std::uint64_t* lease = nullptr) {
    pollfd fds[] = {{channel.get(), POLLIN, 0}};
    REQUIRE(::poll(fds, 1, 5000) == 1);
    std::byte buffer[4096];
    const sys::Received received = sys::receive_packet(channel.get(), buffer);
    REQUIRE(received.size > 0);
    const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
    REQUIRE(message);
    if (lease != nullptr) *lease = wire::Reader(message->payload).u64();
    return message->header;
  }

  void lease(std::uint64_t nonce, std::uint64_t number, std::size_t descriptors) {
    wire::Writer message(wire::Type::kLeased, nonce);
    message.u64(number).text("sbx_1").text("default");
    const std::vector<int> fds(descriptors, channel.get());
    REQUIRE(sys::send_packet(channel.get(), message.packet(), fds));
  }
};

}  // namespace

TEST_CASE("a lease that comes when nobody waits for it any more goes back") {
  auto [ours, theirs] = sys::seqpacket_pair();
  Warden warden{std::move(theirs)};
  server::WardenClient client(std::move(ours), [] {});
  CHECK_THROWS_AS(client.lease(0, 20ms), std::runtime_error);
  const std::uint64_t nonce = warden.next().nonce;
  warden.lease(nonce, 77, wire::kLeaseDescriptorCount);
  std::uint64_t released = 0;
  CHECK(warden.next(&released).type == wire::Type::kRelease);
  CHECK(released == 77);
}

TEST_CASE("a lease that lost its descriptors on the way goes back, and fails") {
  auto [ours, theirs] = sys::seqpacket_pair();
  Warden warden{std::move(theirs)};
  server::WardenClient client(std::move(ours), [] {});
  std::thread answering([&] { warden.lease(warden.next().nonce, 78, wire::kLeaseDescriptorCount - 1); });
  CHECK_THROWS_AS(client.lease(0), std::runtime_error);
  answering.join();
  std::uint64_t released = 0;
  CHECK(warden.next(&released).type == wire::Type::kRelease);
  CHECK(released == 78);
}

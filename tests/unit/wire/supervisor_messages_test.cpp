// SPDX-License-Identifier: Apache-2.0
#include "wire/supervisor_messages.h"

#include <doctest/doctest.h>
#include <sys/socket.h>

#include <stdexcept>

#include "sys/socket.h"

using namespace rookery;
using wire::SupervisorMessage;

TEST_CASE("a message arrives whole, with its kind") {
  const auto [here, there] = sys::seqpacket_pair();
  wire::send_to_supervised(here.get(), SupervisorMessage::kOneToken);
  wire::send_to_supervised(here.get(), SupervisorMessage::kTokens, std::string(wire::kMaxSupervisorText, 'x'));
  auto message = wire::receive_from_supervisor(there.get());
  REQUIRE(message);
  CHECK(message->kind == SupervisorMessage::kOneToken);
  CHECK(message->text.empty());
  message = wire::receive_from_supervisor(there.get());
  REQUIRE(message);
  CHECK(message->kind == SupervisorMessage::kTokens);
  CHECK(message->text.size() == wire::kMaxSupervisorText);
  CHECK_THROWS_AS(wire::send_to_supervised(here.get(), SupervisorMessage::kTokens, std::string(wire::kMaxSupervisorText + 1, 'x')), std::length_error);
}

TEST_CASE("the end of the other side, an unknown kind and a packet that is too long are no messages") {
  auto [here, there] = sys::seqpacket_pair();
  REQUIRE(::send(here.get(), "?x", 2, 0) == 2);
  CHECK_FALSE(wire::receive_from_supervisor(there.get()));
  const std::string longer(wire::kMaxSupervisorText + 2, 't');
  REQUIRE(::send(here.get(), longer.data(), longer.size(), 0) == static_cast<ssize_t>(longer.size()));
  CHECK_FALSE(wire::receive_from_supervisor(there.get()));
  here.reset();
  CHECK_FALSE(wire::receive_from_supervisor(there.get()));
}

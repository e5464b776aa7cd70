// SPDX-License-Identifier: Apache-2.0
#include "wire/message.h"

#include <doctest/doctest.h>

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

using namespace rookery::wire;

namespace {

std::vector<std::byte> copy(Writer& writer) {
  const auto packet = writer.packet();
  return {packet.begin(), packet.end()};
}

}  // namespace

TEST_CASE("a message comes back as it was written") {
  Writer writer(Type::kBashExited, 0x1122334455667788);
  writer.i32(-7).u32(9).u64(1ull << 40).text("name").raw("rest");
  const auto packet = copy(writer);
  const auto message = parse(packet);
  REQUIRE(message);
  CHECK(message->header.type == Type::kBashExited);
  CHECK(message->header.nonce == 0x1122334455667788);
  Reader reader(message->payload);
  CHECK(reader.i32() == -7);
  CHECK(reader.u32() == 9);
  CHECK(reader.u64() == 1ull << 40);
  CHECK(reader.text() == "name");
  CHECK(reader.ok());
  CHECK_FALSE(reader.done());
}

TEST_CASE("a request to run code may name a processor, and nothing else may") {
  Writer with(Type::kRunCode, 1, 3);
  REQUIRE(parse(with.packet()));
  CHECK(parse(with.packet())->header.cpu == 3);
  Writer without(Type::kRunCode, 1);
  CHECK(parse(without.packet())->header.cpu == 0);
  for (const Type type : {Type::kCodeFinished, Type::kBashExited, Type::kRunBash, Type::kLeased}) {
    Writer other(type, 1, 3);
    CHECK_FALSE(parse(other.packet()));
  }
}

TEST_CASE("a packet of any other length is refused") {
  Writer writer(Type::kRunBash, 1);
  writer.raw("echo");
  const auto packet = copy(writer);
  for (std::size_t size = 0; size < packet.size(); ++size) {
    CHECK_FALSE(parse(std::span(packet).first(size)));
  }
  auto longer = packet;
  longer.push_back(std::byte{0});
  CHECK_FALSE(parse(longer));
}

TEST_CASE("a header with a wrong magic, a processor, a reserved bit or a length over the limit is refused") {
  Writer writer(Type::kRunBash, 1);
  const auto good = copy(writer);
  REQUIRE(parse(good));
  for (const std::size_t offset : {offsetof(Header, magic), offsetof(Header, cpu), offsetof(Header, length), offsetof(Header, reserved)}) {
    auto bad = good;
    bad[offset] ^= std::byte{1};
    CHECK_FALSE(parse(bad));
  }
}

TEST_CASE("reading past the end gives nothing and stays failed") {
  Reader reader(std::string_view("\x05\x00\x00", 3));
  CHECK(reader.u32() == 0);
  CHECK_FALSE(reader.ok());
  CHECK(reader.text().empty());
  CHECK_FALSE(reader.done());

  // A length that promises more than there is.
  Reader text(std::string_view("\x05\x00\x00\x00" "abc", 7));
  CHECK(text.text().empty());
  CHECK_FALSE(text.ok());
}

TEST_CASE("a payload over the limit cannot be sent") {
  Writer writer(Type::kRunBash, 1);
  writer.raw(std::string(kMaxPayload + 1, 'x'));
  CHECK_THROWS_AS(writer.packet(), std::length_error);
}

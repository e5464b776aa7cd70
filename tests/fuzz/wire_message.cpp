// SPDX-License-Identifier: Apache-2.0
//
// Packets as a jail may send them: the header, then every way of reading a payload.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "wire/message.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace rookery::wire;
  const auto message = parse({reinterpret_cast<const std::byte*>(data), size});
  if (!message) return 0;
  if (message->payload.size() + sizeof(Header) != size || message->payload.size() > kMaxPayload) std::abort();
  for (int first = 0; first < 4; ++first) {
    Reader reader(message->payload);
    for (int step = 0; step < 64 && reader.ok() && !reader.done(); ++step) {
      switch ((first + step) % 4) {
        case 0: reader.u32(); break;
        case 1: reader.text(); break;
        case 2: reader.u64(); break;
        default: reader.i32(); break;
      }
    }
  }
  // What was accepted can be written again, byte for byte.
  Writer writer(message->header.type, message->header.nonce, message->header.cpu);
  writer.raw(message->payload);
  const auto packet = writer.packet();
  for (std::size_t i = 0; i < size; ++i) {
    if (packet[i] != static_cast<std::byte>(data[i])) std::abort();
  }
  return 0;
}

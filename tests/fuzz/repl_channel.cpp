// SPDX-License-Identifier: Apache-2.0
// Whatever packets arrive, the interpreter's end of the channel takes requests, drops the rest, and ends at the end.
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "sys/socket.h"
#include "sys/unique_fd.h"
// The extension module is no library to link with.
#include "repl/extension/channel.cpp"

using namespace rookery;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

}  // namespace

// The input is a list of packets: a byte for the length in units of 8, whose lowest bit adds a descriptor that is a
// memfd with what follows, and then the bytes.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  auto [ours, theirs] = sys::seqpacket_pair();
  std::size_t packets = 0;
  while (size > 1 && packets < 4) {
    const std::uint8_t head = *data;
    ++data, --size;
    const std::size_t length = std::min<std::size_t>(head / 2 * 8 + 1, size);
    const auto bytes = std::as_bytes(std::span(data, length));
    if (head % 2 != 0) {
      const sys::UniqueFd memory = sys::sealed_memfd("fuzz", {reinterpret_cast<const char*>(data), length});
      const int descriptors[] = {memory.get()};
      if (sys::send_packet(ours.get(), bytes, descriptors)) ++packets;
    } else if (sys::send_packet(ours.get(), bytes)) {
      ++packets;
    }
    data += length, size -= length;
  }
  ours.reset();
  repl::Request request;
  std::size_t requests = 0;
  while (true) {
    const repl::Receive received = repl::receive_request(theirs.get(), request);
    if (received != repl::Receive::kRequest) break;
    require(request.source.size() <= repl::kMaxSource);
    require(++requests <= packets);
  }
  return 0;
}

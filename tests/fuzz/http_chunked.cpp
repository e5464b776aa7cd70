// SPDX-License-Identifier: Apache-2.0
// The first two bytes are the sizes of the pieces read and of the room for content: neither changes what
// is decoded, nor where the body ends.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http/chunked.h"

using namespace rookery::server::http;

namespace {

struct Decoded {
  std::string content;
  std::size_t consumed = 0;
  bool done = false;
  bool failed = false;
  bool operator==(const Decoded&) const = default;
};

Decoded decode(std::string_view input, std::size_t piece, std::size_t room) {
  ChunkedDecoder decoder;
  Decoded result;
  std::string out(room, '\0');
  while (result.consumed < input.size() && !decoder.done() && !decoder.failed()) {
    const auto step = decoder.decode(input.substr(result.consumed, piece), out);
    if (step.consumed == 0 || step.produced > room) std::abort();
    result.consumed += step.consumed;
    result.content.append(out, 0, step.produced);
  }
  result.done = decoder.done();
  result.failed = decoder.failed();
  if (result.failed == decoder.error().empty() || result.content.size() > result.consumed) std::abort();
  return result;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 3) return 0;
  const std::string_view input(reinterpret_cast<const char*>(data) + 2, size - 2);
  const Decoded whole = decode(input, input.size(), input.size());
  if (!(decode(input, data[0] % 32 + 1U, data[1] % 32 + 1U) == whole)) std::abort();
  return 0;
}

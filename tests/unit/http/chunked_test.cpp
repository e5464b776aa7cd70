// SPDX-License-Identifier: Apache-2.0
#include "server/http/chunked.h"

#include <doctest/doctest.h>

#include <array>
#include <string>

using namespace rookery::server::http;

namespace {

struct Decoded {
  bool done = false;
  bool failed = false;
  std::string content;
  std::size_t consumed = 0;
};

Decoded decode(std::string_view input, std::size_t piece = 1000, std::size_t room = 1000) {
  ChunkedDecoder decoder;
  Decoded result;
  std::string out(room, '\0');
  while (result.consumed < input.size() && !decoder.done() && !decoder.failed()) {
    const auto step = decoder.decode(input.substr(result.consumed, piece), out);
    result.consumed += step.consumed;
    result.content.append(out, 0, step.produced);
  }
  result.done = decoder.done();
  result.failed = decoder.failed();
  return result;
}

}  // namespace

TEST_CASE("chunks are joined, extensions and trailers dropped, what follows is left") {
  const std::string body = "4\r\nwiki\r\n005;a=\"b;c\"\r\npedia\r\nA \r\n";
  const std::string input = "4\r\nwiki\r\n005;a=\"b\"\r\npedia\r\n0;x\r\nContent-Length: 50\r\nHost: evil\r\n\r\n";
  for (std::size_t piece = 1; piece < 20; ++piece) {
    for (std::size_t room = 1; room < 6; ++room) {
      const Decoded result = decode(input + "GET /", piece, room);
      CHECK(result.done);
      CHECK(result.content == "wikipedia");
      CHECK(result.consumed == input.size());
    }
  }
  CHECK(decode(body).failed);
}

TEST_CASE("malformed chunks are refused") {
  for (const char* input : {"\r\n", " 4\r\nwiki\r\n", "4 \r\nwiki\r\n", "0x4\r\n", "+4\r\n", "-1\r\n", "4_0\r\n", "g\r\n", ";a\r\n",
                            "4\nwiki\n", "4\r\nwikiX\r\n", "4\r\nwiki\n", "4\r\nwiki\rX", "4;a\nb\r\n", "4;a\x01\r\n",
                            "00000000000000004\r\n", "10000000000000000\r\n", "0\r\n\rX", "0\r\n\n", "0\r\n X: folded\r\n\r\n",
                            "0\r\nX: a\nb\r\n\r\n", "4\rX"}) {
    CAPTURE(input);
    CHECK(decode(input).failed);
  }
}

TEST_CASE("extensions and trailers are bounded") {
  CHECK(decode("1;" + std::string(ChunkedDecoder::kMaxExtension, 'a') + "\r\nx\r\n0\r\n\r\n").done);
  CHECK(decode("1;" + std::string(ChunkedDecoder::kMaxExtension + 1, 'a') + "\r\n").failed);
  std::string many;
  for (int i = 0; i < 100; ++i) many += "1;" + std::string(1000, 'a') + "\r\nx\r\n";
  CHECK(decode(many).failed);
  std::string trailers = "0\r\n";
  for (int i = 0; i < 10000; ++i) trailers += "X: a\r\n";
  CHECK(decode(trailers).failed);
  CHECK(decode("0\r\nX: " + std::string(1024 * 1024, 'a') + "\r\n\r\n").failed);
}

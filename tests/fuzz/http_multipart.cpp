// SPDX-License-Identifier: Apache-2.0
// The first byte says where to cut the rest: the events of a cut body are those of the whole one.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "server/http/multipart.h"

using namespace rookery::server::http;

namespace {

// All events as one text, the pieces of content joined.
std::string events_of(std::string_view body, std::size_t piece) {
  std::string log;
  MultipartParser parser("B", {[&](const PartHeader& part) {
                                 log += "\1" + part.name + "\2" + part.filename.value_or("\3") + "\2" + part.content_type + "\2";
                                 if (part.name.empty()) std::abort();
                               },
                               [&](std::string_view bytes) {
                                 if (bytes.empty()) std::abort();
                                 log += bytes;
                               },
                               [&] { log += "\4"; }});
  bool ok = true;
  for (std::size_t at = 0; at < body.size() && ok; at += piece) ok = parser.feed(body.substr(at, piece));
  ok = ok && parser.finish();
  if (ok != parser.error().empty()) std::abort();
  return ok ? log : std::string(parser.error());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = events_of(body, std::max<std::size_t>(1, body.size()));
  if (events_of(body, 1) != whole || events_of(body, data[0] % 64 + 1U) != whole) std::abort();
  if (const auto boundary = multipart_boundary(body); boundary && (boundary->empty() || boundary->size() > kMaxBoundary)) {
    std::abort();
  }
  return 0;
}

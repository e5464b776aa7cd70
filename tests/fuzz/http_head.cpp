// SPDX-License-Identifier: Apache-2.0
// A head is found and parsed the same however it is cut; what is accepted keeps its promises.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "server/credentials.h"
#include "server/http/request_head.h"
#include "server/http/route.h"

using namespace rookery::server::http;

namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

void check(const RequestHead& head) {
  require(!(head.chunked && head.content_length));
  require(head.minor_version == 0 || (head.minor_version == 1 && !head.host.empty()));
  require(head.minor_version == 1 || !(head.chunked || head.keep_alive));
  require(!head.segments.empty());
  for (const std::string& segment : head.segments) require(segment.find('\0') == std::string::npos);
  const auto match = match_route(head);
  if (const auto* route = std::get_if<RouteMatch>(&match)) require(route->session_id.size() <= 64);
  const auto password = rookery::server::basic_password(head.authorization);
  require(!password || password->size() < head.authorization.size());
  require(!password || rookery::server::bearer_token(head.authorization).empty());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  HeadScanner whole;
  const HeadScanner::Result result = whole.scan(bytes);
  HeadScanner cut;
  HeadScanner::Result in_pieces = HeadScanner::Result::kMore;
  for (std::size_t end = 0; end <= size && in_pieces == HeadScanner::Result::kMore; ++end) {
    in_pieces = cut.scan(bytes.substr(0, end));
  }
  require(result == in_pieces && whole.length() == cut.length() && whole.error().status == cut.error().status);
  if (result == HeadScanner::Result::kComplete) {
    require(whole.length() <= size && whole.skipped() <= whole.length());
    const auto parsed = parse_request_head(bytes.substr(whole.skipped(), whole.length() - whole.skipped()));
    if (const auto* head = std::get_if<RequestHead>(&parsed)) check(*head);
  }
  const auto parsed = parse_request_head(bytes);
  if (const auto* head = std::get_if<RequestHead>(&parsed)) {
    check(*head);
    // Nothing is accepted that the scanner would have refused or cut elsewhere.
    require(result == HeadScanner::Result::kComplete && whole.length() == size);
  }
  return 0;
}

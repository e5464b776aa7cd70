// SPDX-License-Identifier: Apache-2.0
#include "server/http/fields.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>

#include "server/http/syntax.h"
#include "server/http/target.h"

namespace rookery::server::http {

std::optional<HeadError> FieldReader::line(std::string_view line) {
  if (++count_ > kMaxFields) return HeadError{431, "too many header fields"};
  const std::size_t colon = line.find(':');
  // Also refuses what RFC 9112 5.1 and 5.2 name: space before the colon, and a line folded onto the last.
  if (colon == std::string_view::npos || !is_token(line.substr(0, colon))) {
    return HeadError{400, "malformed header field"};
  }
  const std::string_view name = line.substr(0, colon);
  const std::string_view value = trim(line.substr(colon + 1));
  if (!is_field_value(value)) return HeadError{400, "invalid character in a header field"};

  if (equals_ignoring_case(name, "Connection")) {
    close_ = close_ || list_has(value, "close");
    return std::nullopt;
  }
  for (const auto& [field, known] : {std::pair("traceparent", &traceparent_), std::pair("X-Request-Id", &request_id_)}) {
    if (!equals_ignoring_case(name, field)) continue;
    known->value = value;
    ++known->count;
    return std::nullopt;
  }
  // Each of these has one meaning only when it stands once.
  struct Known {
    std::string_view name;
    std::optional<std::string_view>& value;
  };
  const Known known[] = {
      {"Host", host_},
      {"Content-Length", content_length_},
      {"Transfer-Encoding", transfer_encoding_},
      {"Content-Encoding", content_encoding_},
      {"Content-Type", content_type_},
      {"Expect", expect_},
      {"Authorization", authorization_},
      {"Origin", origin_},
      {"Sec-Fetch-Site", sec_fetch_site_},
  };
  for (const Known& field : known) {
    if (!equals_ignoring_case(name, field.name)) continue;
    if (field.value) return HeadError{400, "repeated header field"};
    field.value = value;
    return std::nullopt;
  }
  others_.emplace_back(name, value);
  return std::nullopt;
}

std::optional<HeadError> FieldReader::finish(RequestHead& head) const {
  if (const auto error = host(head)) return error;
  if (const auto error = framing(head)) return error;
  if (content_encoding_ && !equals_ignoring_case(*content_encoding_, "identity")) {
    return HeadError{415, "content codings are not supported"};
  }
  if (expect_ && !equals_ignoring_case(*expect_, "100-continue")) {
    return HeadError{417, "unknown expectation"};
  }
  // A 1.0 client does not know the interim answer (RFC 9110 10.1.1), and a 1.0 proxy may pass on a
  // Connection field that it does not understand (RFC 9112 C.2.2).
  head.expect_continue = expect_.has_value() && head.minor_version == 1;
  head.keep_alive = !close_ && head.minor_version == 1;
  head.content_type = content_type_.value_or("");
  head.authorization = authorization_.value_or("");
  head.sec_fetch_site = sec_fetch_site_.value_or("");
  head.traceparent = traceparent_.once();
  head.request_id = request_id_.once();
  if (origin_) head.origin = std::string(*origin_);
  head.other_fields.assign(others_.begin(), others_.end());
  return std::nullopt;
}

std::optional<HeadError> FieldReader::host(RequestHead& head) const {
  if (!host_) {
    if (head.minor_version == 0) return std::nullopt;
    return HeadError{400, "missing Host"};
  }
  std::optional<Authority> authority = parse_authority(*host_);
  if (!authority) return HeadError{400, "invalid Host"};
  head.host = std::move(authority->host);
  head.port = authority->port;
  return std::nullopt;
}

std::optional<HeadError> FieldReader::framing(RequestHead& head) const {
  if (transfer_encoding_) {
    if (content_length_) return HeadError{400, "both Transfer-Encoding and Content-Length"};
    if (head.minor_version == 0) return HeadError{400, "Transfer-Encoding in HTTP/1.0"};
    if (!equals_ignoring_case(*transfer_encoding_, "chunked")) {
      return is_token(*transfer_encoding_) ? HeadError{501, "unknown transfer coding"}
                                           : HeadError{400, "invalid Transfer-Encoding"};
    }
    head.chunked = true;
  }
  if (content_length_) {
    const std::string_view digits = *content_length_;
    std::uint64_t length = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), length);
    // from_chars takes no sign for an unsigned type, but stops at the first other character.
    if (error != std::errc() || end != digits.data() + digits.size()) {
      return HeadError{400, "invalid Content-Length"};
    }
    head.content_length = length;
  }
  return std::nullopt;
}

}  // namespace rookery::server::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

// One request head (RFC 9112 sections 2 to 6), parsed strictly and without side effects. Where two
// readers of the same bytes could disagree about where a request ends, the answer is an error and a
// closed connection, never a guess.
namespace rookery::server::http {

constexpr std::size_t kMaxRequestLine = 8 * 1024;  // bytes without CRLF; longer: 414
constexpr std::size_t kMaxHead = 32 * 1024;        // bytes with the empty line; longer: 431
constexpr std::size_t kMaxFields = 100;            // more: 431

enum class Method { kGet, kHead, kPost, kPut, kDelete, kOptions, kPatch, kTrace, kQuery };

[[nodiscard]] std::string_view name(Method method) noexcept;

struct RequestHead {
  Method method = Method::kGet;
  int minor_version = 1;  // HTTP/1.x, x is 0 or 1
  // The path between slashes, each segment percent-decoded exactly once: "/a%2Fb/c" is {"a/b", "c"},
  // "/" is {""}. A segment holds any byte but NUL.
  std::vector<std::string> segments;
  // Decoded once, '+' is a space. A parameter that stands twice is an error.
  std::map<std::string, std::string, std::less<>> query;
  // Host without port, in lower case; empty only in HTTP/1.0. An IPv6 address keeps its brackets.
  std::string host;
  std::optional<std::uint16_t> port;
  std::string content_type;  // as sent; empty when absent
  std::optional<std::uint64_t> content_length;
  bool chunked = false;  // never together with content_length
  bool keep_alive = false;
  bool expect_continue = false;
  std::optional<std::string> origin;
  std::string sec_fetch_site;
  std::string authorization;
  // Not validated; empty when absent or sent more than once.
  std::string traceparent;
  std::string request_id;
  // All others, as sent.
  std::vector<std::pair<std::string, std::string>> other_fields;

  // The value of one of the other fields; empty when there is none, or more than one.
  [[nodiscard]] std::string_view field(std::string_view name) const noexcept;

  [[nodiscard]] bool has_body() const noexcept { return chunked || content_length.value_or(0) > 0; }
};

// The connection is closed after any of these.
struct HeadError {
  int status = 0;           // 4xx or 5xx
  std::string_view detail;  // a fixed text, safe to send
};

// `bytes`: from the request line to the empty line, both included.
[[nodiscard]] std::variant<RequestHead, HeadError> parse_request_head(std::string_view bytes);

// Finds the end of a head in a buffer that grows. Looks at each byte once and refuses what can never
// become a valid head (a bare CR or LF, a control character, a line or head that is too long) at once, so
// that a TLS greeting does not hold its connection until the deadline.
class HeadScanner {
 public:
  enum class Result { kMore, kComplete, kError };

  // `bytes`: everything received so far for this head; each call gets the earlier bytes again.
  Result scan(std::string_view bytes) noexcept;
  // Bytes of the complete head, the empty line included.
  [[nodiscard]] std::size_t length() const noexcept { return position_; }
  // Bytes at the start to leave out: an empty line before a request is allowed once (RFC 9112 2.2).
  [[nodiscard]] std::size_t skipped() const noexcept { return skipped_; }
  // Status 0 while there is none.
  [[nodiscard]] HeadError error() const noexcept { return error_; }

 private:
  Result fail(int status, std::string_view detail) noexcept;

  std::size_t position_ = 0;
  std::size_t line_start_ = 0;
  std::size_t skipped_ = 0;
  bool in_request_line_ = true;
  HeadError error_;
};

}  // namespace rookery::server::http

// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_head.h"

#include <array>
#include <utility>

#include "server/http/fields.h"
#include "server/http/syntax.h"
#include "server/http/target.h"

namespace rookery::server::http {

namespace {

constexpr std::array<std::pair<Method, std::string_view>, 9> kMethods = {{
    {Method::kGet, "GET"},
    {Method::kHead, "HEAD"},
    {Method::kPost, "POST"},
    {Method::kPut, "PUT"},
    {Method::kDelete, "DELETE"},
    {Method::kOptions, "OPTIONS"},
    {Method::kPatch, "PATCH"},
    {Method::kTrace, "TRACE"},
    {Method::kQuery, "QUERY"},
}};

std::optional<HeadError> request_line(std::string_view line, RequestHead& head, Target& target) {
  const std::size_t first = line.find(' ');
  const std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return HeadError{400, "malformed request line"};
  const std::string_view method = line.substr(0, first);
  const std::string_view text = line.substr(first + 1, last - first - 1);
  const std::string_view version = line.substr(last + 1);
  if (!is_token(method) || text.empty() || text.find(' ') != std::string_view::npos) {
    return HeadError{400, "malformed request line"};
  }
  if (version.size() != 8 || !version.starts_with("HTTP/") || !is_digit(version[5]) || version[6] != '.' ||
      !is_digit(version[7])) {
    return HeadError{400, "malformed request line"};
  }
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return HeadError{505, "unknown HTTP version"};
  head.minor_version = version.back() - '0';

  bool known = false;
  for (const auto& [value, spelling] : kMethods) {
    if (method == spelling) {
      head.method = value;
      known = true;
    }
  }
  // CONNECT among them: no tunnel is served.
  if (!known) return HeadError{501, "unknown method"};
  if (text == "*") return HeadError{501, "the asterisk form is not served"};
  const std::string_view problem = parse_target(text, target);
  if (!problem.empty()) return HeadError{400, problem};
  return std::nullopt;
}

}  // namespace

std::string_view name(Method method) noexcept {
  for (const auto& [value, spelling] : kMethods) {
    if (value == method) return spelling;
  }
  return {};
}

std::string_view RequestHead::field(std::string_view name) const noexcept {
  std::string_view found;
  bool seen = false;
  for (const auto& [other, value] : other_fields) {
    if (!equals_ignoring_case(other, name)) continue;
    found = seen ? std::string_view{} : value;
    seen = true;
  }
  return found;
}

std::variant<RequestHead, HeadError> parse_request_head(std::string_view bytes) {
  if (bytes.size() > kMaxHead) return HeadError{431, "request head too large"};
  RequestHead head;
  Target target;
  FieldReader fields;
  bool first = true;
  for (;;) {
    const std::size_t end = bytes.find("\r\n");
    if (end == std::string_view::npos) return HeadError{400, "incomplete request head"};
    const std::string_view line = bytes.substr(0, end);
    bytes.remove_prefix(end + 2);
    if (first) {
      if (line.size() > kMaxRequestLine) return HeadError{414, "request target too long"};
      if (const auto error = request_line(line, head, target)) return *error;
      first = false;
    } else if (line.empty()) {
      break;
    } else if (const auto error = fields.line(line)) {
      return *error;
    }
  }
  if (!bytes.empty()) return HeadError{400, "bytes after the request head"};
  if (const auto error = fields.finish(head)) return *error;
  // RFC 9112 3.2.2 lets the target win; whoever sends two different names is up to something.
  if (target.authority && !head.host.empty() && *target.authority != Authority{head.host, head.port}) {
    return HeadError{400, "Host and request target differ"};
  }
  if (target.authority && head.host.empty()) {
    head.host = std::move(target.authority->host);
    head.port = target.authority->port;
  }
  head.segments = std::move(target.segments);
  head.query = std::move(target.query);
  return head;
}

HeadScanner::Result HeadScanner::fail(int status, std::string_view detail) noexcept {
  error_ = {status, detail};
  return Result::kError;
}

HeadScanner::Result HeadScanner::scan(std::string_view bytes) noexcept {
  for (; position_ < bytes.size(); ++position_) {
    const char c = bytes[position_];
    if (position_ - skipped_ >= kMaxHead) return fail(431, "request head too large");
    if (c == '\n') {
      if (position_ == 0 || bytes[position_ - 1] != '\r') return fail(400, "bare LF in the request head");
      const bool empty = position_ - line_start_ == 1;
      line_start_ = position_ + 1;
      if (!empty) {
        in_request_line_ = false;
      } else if (!in_request_line_) {
        ++position_;
        return Result::kComplete;
      } else if (skipped_ == 0) {
        skipped_ = line_start_;
      } else {
        return fail(400, "empty lines before the request");
      }
      continue;
    }
    if (position_ > 0 && bytes[position_ - 1] == '\r') return fail(400, "bare CR in the request head");
    if (is_control(c) && c != '\r' && c != '\t') return fail(400, "control character in the request head");
    if (in_request_line_ && position_ - line_start_ > kMaxRequestLine) {
      return fail(414, "request target too long");
    }
  }
  return Result::kMore;
}

}  // namespace rookery::server::http

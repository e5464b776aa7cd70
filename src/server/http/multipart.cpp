// SPDX-License-Identifier: Apache-2.0
#include "server/http/multipart.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "server/http/parameters.h"
#include "server/http/part_header.h"
#include "server/http/syntax.h"

namespace rookery::server::http {

std::optional<std::string> multipart_boundary(std::string_view content_type) {
  const std::optional<ParameterList> list = parse_parameters(content_type);
  if (!list || list->value != "multipart/form-data") return std::nullopt;
  const std::string* boundary = list->find("boundary");
  const auto allowed = [](char c) {
    return is_alpha(c) || is_digit(c) || std::string_view("'()+_,-./:=? ").find(c) != std::string_view::npos;
  };
  if (boundary == nullptr || boundary->empty() || boundary->size() > kMaxBoundary || boundary->back() == ' ' ||
      !std::all_of(boundary->begin(), boundary->end(), allowed)) {
    return std::nullopt;
  }
  return *boundary;
}

// The CRLF before the first boundary is optional (RFC 2046 5.1.1): it counts as seen.
MultipartParser::MultipartParser(std::string_view boundary, MultipartEvents events)
    : delimiter_("\r\n--" + std::string(boundary)), events_(std::move(events)), matched_(2) {}

bool MultipartParser::fail(std::string_view detail) noexcept {
  state_ = State::kFailed;
  error_ = detail;
  return false;
}

bool MultipartParser::feed(std::string_view bytes) {
  while (!bytes.empty() && state_ != State::kFailed) bytes.remove_prefix(step(bytes));
  return state_ != State::kFailed;
}

bool MultipartParser::finish() {
  if (state_ == State::kFailed) return false;
  return state_ == State::kEpilogue || fail("the multipart body has no final boundary");
}

std::size_t MultipartParser::step(std::string_view bytes) {
  switch (state_) {
    case State::kPreamble:
    case State::kContent:
      return content(bytes);
    case State::kAfterBoundary:
      return after_boundary(bytes);
    case State::kHeader:
      return header(bytes);
    case State::kEpilogue:
      outside_ += bytes.size();
      if (outside_ > kMaxEpilogue) fail("the multipart epilogue is too long");
      return bytes.size();
    case State::kFailed:
      break;
  }
  return bytes.size();
}

void MultipartParser::data(std::string_view bytes) {
  if (bytes.empty()) return;
  if (state_ == State::kContent) {
    events_.on_data(bytes);
    return;
  }
  outside_ += bytes.size();
  if (outside_ > kMaxPreamble) fail("the multipart preamble is too long");
}

// The first place where the delimiter, or as much of it as fits before `end`, stands; `end` when nowhere.
const char* MultipartParser::find_delimiter(const char* at, const char* end) const noexcept {
  for (; at != end; ++at) {
    // A call for each byte would make a run of CRs the slowest input by far.
    if (*at != '\r') {
      at = static_cast<const char*>(std::memchr(at, '\r', static_cast<std::size_t>(end - at)));
      if (at == nullptr) return end;
    }
    const std::size_t count = std::min(delimiter_.size(), static_cast<std::size_t>(end - at));
    if (count > 1 && at[1] != '\n') continue;
    if (count > 2 && at[2] != '-') continue;
    if (std::memcmp(at, delimiter_.data(), count) == 0) return at;
  }
  return end;
}

// Looks for the delimiter. CR stands only at its start (a boundary has none), so after a mismatch the
// bytes that did match are content, and the search goes on with the byte that did not: no backtracking.
std::size_t MultipartParser::content(std::string_view bytes) {
  const char* const begin = bytes.data();
  const char* const end = begin + bytes.size();
  const char* at = begin;
  if (matched_ > 0) {
    const std::size_t count = std::min(delimiter_.size() - matched_, bytes.size());
    if (std::memcmp(begin, delimiter_.data() + matched_, count) != 0) {
      data(std::string_view(delimiter_).substr(0, std::exchange(matched_, 0)));
      return 0;  // the same bytes again, now without a match before them
    }
    matched_ += count;
    at += count;
  } else {
    at = find_delimiter(at, end);
    matched_ = std::min(delimiter_.size(), static_cast<std::size_t>(end - at));
    data(bytes.substr(0, static_cast<std::size_t>(at - begin)));
    at += matched_;
  }
  if (matched_ == delimiter_.size() && state_ != State::kFailed) {
    if (state_ == State::kContent) events_.on_part_end();
    matched_ = 0;
    held_.clear();
    state_ = State::kAfterBoundary;
  }
  return static_cast<std::size_t>(at - begin);
}

std::size_t MultipartParser::after_boundary(std::string_view bytes) {
  held_.push_back(bytes.front());
  if (held_.size() < 2) return 1;
  if (held_ == "--") {
    state_ = State::kEpilogue;
    outside_ = 0;
  } else if (held_ == "\r\n") {
    state_ = State::kHeader;
    if (++parts_ > kMaxParts) fail("too many parts");
  } else {
    // A line that only starts with the boundary; RFC 2046 5.1.1 forbids it in content.
    fail("malformed multipart boundary line");
  }
  held_.clear();
  return 1;
}

std::size_t MultipartParser::header(std::string_view bytes) {
  const std::size_t before = held_.size();
  held_ += bytes.substr(0, kMaxPartHeader + 4 - before);
  if (held_.size() < 2) return bytes.size();
  if (held_.starts_with("\r\n")) {
    fail("a part without headers");
    return bytes.size();
  }
  const std::size_t end = held_.find("\r\n\r\n", before < 3 ? 0 : before - 3);
  if (end == std::string::npos) {
    if (held_.size() >= kMaxPartHeader + 4) fail("the header of a part is too long");
    return held_.size() - before;
  }
  PartHeader part;
  const std::string_view problem = parse_part_header(std::string_view(held_).substr(0, end), part);
  if (!problem.empty()) {
    fail(problem);
    return bytes.size();
  }
  held_.clear();
  state_ = State::kContent;
  events_.on_part(part);
  return end + 4 - before;
}

}  // namespace rookery::server::http

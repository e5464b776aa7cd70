// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

// multipart/form-data (RFC 7578, RFC 2046 5.1) from a client we do not trust, in one pass: time is linear
// in the input, memory is bounded, and how the input is cut into pieces changes nothing.
namespace rookery::server::http {

constexpr std::size_t kMaxBoundary = 70;
constexpr std::size_t kMaxPartHeader = 8 * 1024;
constexpr std::size_t kMaxParts = 32;
constexpr std::size_t kMaxPreamble = 4 * 1024;
constexpr std::size_t kMaxEpilogue = 4 * 1024;

struct PartHeader {
  std::string name;                     // not empty, no control characters
  std::optional<std::string> filename;  // as sent, decoded; never a path to trust; no control characters
  std::string content_type;             // "" when absent
};

struct MultipartEvents {
  std::function<void(const PartHeader&)> on_part;
  std::function<void(std::string_view)> on_data;  // pieces of the content, never empty
  std::function<void()> on_part_end;
};

// The boundary of a Content-Type value `multipart/form-data; boundary=...`; nullopt when it is another
// type, or the boundary is missing, stands twice or is not 1..70 characters of RFC 2046's set.
[[nodiscard]] std::optional<std::string> multipart_boundary(std::string_view content_type);

class MultipartParser {
 public:
  // `boundary`: as multipart_boundary() gave it.
  MultipartParser(std::string_view boundary, MultipartEvents events);

  // False: the input is malformed or over a limit; error() says which. Later calls change nothing.
  // An exception from an event leaves the parser unusable.
  [[nodiscard]] bool feed(std::string_view bytes);
  // To be called after the last byte: false when the final boundary is missing.
  [[nodiscard]] bool finish();
  // A fixed text, safe to send; "" while all is well.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }

 private:
  enum class State { kPreamble, kAfterBoundary, kHeader, kContent, kEpilogue, kFailed };

  bool fail(std::string_view detail) noexcept;
  // Each returns how much of `bytes`, which is not empty, it used.
  std::size_t step(std::string_view bytes);
  std::size_t after_boundary(std::string_view bytes);
  std::size_t header(std::string_view bytes);
  std::size_t content(std::string_view bytes);
  void data(std::string_view bytes);
  [[nodiscard]] const char* find_delimiter(const char* at, const char* end) const noexcept;

  std::string delimiter_;  // CRLF "--" boundary
  MultipartEvents events_;
  State state_ = State::kPreamble;
  std::size_t matched_ = 0;  // bytes of delimiter_ that ended the last piece
  std::string held_;         // an incomplete header section or the rest of a boundary line
  std::size_t outside_ = 0;  // bytes of preamble or epilogue so far
  std::size_t parts_ = 0;
  std::string_view error_;
};

}  // namespace rookery::server::http

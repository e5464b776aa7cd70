// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

namespace rookery::server::http {

// Decoder of the chunked transfer coding (RFC 9112 section 7.1), strict and bounded: no bare LF, no space
// around the size, at most 16 digits, chunk extensions and trailers are read over, not used, and limited.
class ChunkedDecoder {
 public:
  static constexpr std::size_t kMaxExtension = 1024;           // bytes, one chunk
  static constexpr std::size_t kMaxAllExtensions = 16 * 1024;  // bytes, the whole body
  static constexpr std::size_t kMaxTrailers = 8 * 1024;        // bytes

  struct Step {
    std::size_t consumed = 0;
    std::size_t produced = 0;
  };
  // Decodes as much of `in` as fits into `out`. Consumes nothing of what follows the body.
  Step decode(std::string_view in, std::span<char> out) noexcept;

  [[nodiscard]] bool done() const noexcept { return state_ == State::kDone; }
  [[nodiscard]] bool failed() const noexcept { return state_ == State::kFailed; }
  // A fixed text, safe to send; "" while all is well.
  [[nodiscard]] std::string_view error() const noexcept { return error_; }
  // True while nothing but chunk content comes next: `remaining()` bytes of it.
  [[nodiscard]] bool in_data() const noexcept { return state_ == State::kData; }
  [[nodiscard]] std::uint64_t remaining() const noexcept { return remaining_; }
  // For the owner that took `count` content bytes (at most remaining()) past decode().
  void took(std::uint64_t count) noexcept;

 private:
  enum class State {
    kSize, kExtension, kSizeLf, kData, kDataCr, kDataLf, kTrailerStart, kTrailer, kTrailerLf, kEndLf, kDone, kFailed
  };

  void framing(char c) noexcept;
  void fail(std::string_view text) noexcept;

  State state_ = State::kSize;
  std::uint64_t remaining_ = 0;
  std::size_t digits_ = 0;
  std::size_t extension_ = 0;
  std::size_t all_extensions_ = 0;
  std::size_t trailers_ = 0;
  std::string_view error_;
};

}  // namespace rookery::server::http

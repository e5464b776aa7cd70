// SPDX-License-Identifier: Apache-2.0
#include "server/http/chunked.h"

#include <algorithm>
#include <cstring>

#include "server/http/syntax.h"

namespace rookery::server::http {

ChunkedDecoder::Step ChunkedDecoder::decode(std::string_view in, std::span<char> out) noexcept {
  Step step;
  while (step.consumed < in.size() && !done() && !failed()) {
    if (state_ != State::kData) {
      framing(in[step.consumed++]);
      continue;
    }
    const std::uint64_t room = std::min(in.size() - step.consumed, out.size() - step.produced);
    const auto count = static_cast<std::size_t>(std::min(room, remaining_));
    if (count == 0) break;  // `out` is full
    std::memcpy(out.data() + step.produced, in.data() + step.consumed, count);
    step.consumed += count;
    step.produced += count;
    took(count);
  }
  return step;
}

void ChunkedDecoder::took(std::uint64_t count) noexcept {
  remaining_ -= count;
  if (remaining_ == 0) state_ = State::kDataCr;
}

// One byte that is not content.
void ChunkedDecoder::framing(char c) noexcept {
  switch (state_) {
    case State::kSize:
      if (const int digit = hex_value(c); digit >= 0) {
        if (++digits_ > 16) return fail("chunk size too long");
        remaining_ = remaining_ * 16 + static_cast<std::uint64_t>(digit);
        return;
      }
      if (digits_ == 0) return fail("malformed chunk size");
      if (c == '\r') {
        state_ = State::kSizeLf;
      } else if (c == ';') {
        state_ = State::kExtension;
        extension_ = 0;
      } else {
        fail("malformed chunk size");
      }
      return;
    case State::kExtension:
      if (c == '\r') {
        state_ = State::kSizeLf;
      } else if (is_control(c) && c != '\t') {
        fail("malformed chunk extension");
      } else if (++extension_ > kMaxExtension || ++all_extensions_ > kMaxAllExtensions) {
        fail("chunk extensions too long");
      }
      return;
    case State::kSizeLf:
      if (c != '\n') return fail("malformed chunk size");
      digits_ = 0;
      state_ = remaining_ == 0 ? State::kTrailerStart : State::kData;
      return;
    case State::kDataCr:
      if (c != '\r') return fail("chunk longer than its size");
      state_ = State::kDataLf;
      return;
    case State::kDataLf:
      if (c != '\n') return fail("chunk longer than its size");
      state_ = State::kSize;
      return;
    case State::kTrailerStart:
      if (c == '\r') {
        state_ = State::kEndLf;
        return;
      }
      if (!is_token_char(c)) return fail("malformed trailer");
      state_ = State::kTrailer;
      [[fallthrough]];
    case State::kTrailer:
      if (++trailers_ > kMaxTrailers) return fail("trailers too long");
      if (c == '\r') {
        state_ = State::kTrailerLf;
      } else if (is_control(c) && c != '\t') {
        fail("malformed trailer");
      }
      return;
    case State::kTrailerLf:
      if (c != '\n') return fail("malformed trailer");
      state_ = State::kTrailerStart;
      return;
    case State::kEndLf:
      if (c != '\n') return fail("malformed end of the chunked body");
      state_ = State::kDone;
      return;
    case State::kData:
    case State::kDone:
    case State::kFailed:
      return;
  }
}

void ChunkedDecoder::fail(std::string_view text) noexcept {
  state_ = State::kFailed;
  error_ = text;
}

}  // namespace rookery::server::http

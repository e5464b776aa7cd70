// SPDX-License-Identifier: Apache-2.0
#include "server/http/body_reader.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace rookery::server::http {

BodyReader::BodyReader(Connection& connection, const RequestHead& head, std::uint64_t limit,
                       const Pace& pace) noexcept
    : connection_(connection),
      head_(head),
      limit_(limit),
      pace_(pace),
      continue_due_(head.expect_continue && head.has_body()) {}

bool BodyReader::done() const noexcept {
  return head_.chunked ? chunks_.done() : received_ >= head_.content_length.value_or(0);
}

void BodyReader::fail(int status, std::string_view detail) {
  failure_ = HttpError::with_detail(status, detail);
  throw *failure_;
}

std::optional<std::uint64_t> BodyReader::declared_size() const {
  if (head_.chunked) return std::nullopt;
  return head_.content_length.value_or(0);
}

std::string BodyReader::read_all(std::size_t cap) {
  // A promise of the client's: no reason to reserve all of it before a byte came.
  constexpr std::uint64_t kReserve = 64 * 1024;
  const std::uint64_t declared = declared_size().value_or(0);
  if (declared > cap) throw HttpError::with_detail(413, "request body too large");
  std::string content;
  content.reserve(static_cast<std::size_t>(std::min(declared, kReserve)));
  std::array<char, 16 * 1024> piece;
  while (const std::size_t size = read(piece)) {
    if (content.size() + size > cap) throw HttpError::with_detail(413, "request body too large");
    content.append(piece.data(), size);
  }
  return content;
}

std::size_t BodyReader::read(std::span<char> to) {
  if (failure_) throw *failure_;
  if (to.empty() || done()) return 0;
  if (head_.content_length.value_or(0) > limit_) fail(413, "request body too large");
  // A client that did not wait needs no invitation (RFC 9110 10.1.1).
  if (!connection_.buffered().empty()) continue_due_ = false;
  const std::size_t size = head_.chunked ? some_chunked(to) : some(to);
  received_ += size;
  if (received_ > limit_) fail(413, "request body too large");
  return size;
}

std::size_t BodyReader::some(std::span<char> to) {
  const std::uint64_t left = head_.content_length.value_or(0) - received_;
  to = to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), left)));
  const std::string_view buffered = connection_.buffered();
  if (buffered.empty()) return receive(to);
  const std::size_t size = std::min(to.size(), buffered.size());
  std::memcpy(to.data(), buffered.data(), size);
  connection_.consume(size);
  return size;
}

std::size_t BodyReader::some_chunked(std::span<char> to) {
  for (;;) {
    if (const std::string_view buffered = connection_.buffered(); !buffered.empty()) {
      const ChunkedDecoder::Step step = chunks_.decode(buffered, to);
      connection_.consume(step.consumed);
      if (chunks_.failed()) fail(400, chunks_.error());
      if (step.produced > 0 || chunks_.done()) return step.produced;
      continue;
    }
    if (chunks_.in_data()) {
      // Content goes straight to its reader; only framing needs the buffer.
      const std::uint64_t left = std::min<std::uint64_t>(to.size(), chunks_.remaining());
      const std::size_t size = receive(to.first(static_cast<std::size_t>(left)));
      chunks_.took(size);
      return size;
    }
    send_continue();
    if (const Io io = connection_.receive(MSG_DONTWAIT); io == Io::kDone) continue;
    std::array<char, 1> first;
    receive(first);
    connection_.push_back(first[0]);
  }
}

std::size_t BodyReader::receive(std::span<char> to) {
  send_continue();
  std::size_t size = 0;
  switch (connection_.receive(to, pace_, size)) {
    case Io::kDone: return size;
    case Io::kTimeout: fail(408, "the request body came too slowly");
    case Io::kClosed: break;
  }
  fail(400, "the request body ended early");
}

// Late, at the first wait for the client, so that a request that is refused gets no invitation.
void BodyReader::send_continue() {
  if (!std::exchange(continue_due_, false)) return;
  connection_.send_now("HTTP/1.1 100 Continue\r\n\r\n");
}

bool BodyReader::drain(std::size_t max, Pace::Milliseconds patience) {
  if (failure_) return false;
  if (done()) return true;
  // A client that waits for "100 Continue" may skip the body or not (RFC 9110 10.1.1): no way to tell.
  if (continue_due_ && connection_.buffered().empty()) return false;
  if (!head_.chunked && *head_.content_length - received_ > max) return false;
  limit_ = std::max(received_ + max, head_.content_length.value_or(0));
  pace_ = Pace{patience, patience, pace_.rate};
  std::array<char, 16 * 1024> scratch;
  try {
    while (read(scratch) > 0) {
    }
  } catch (const HttpError&) {
    return false;
  }
  return true;
}

}  // namespace rookery::server::http

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "server/http/chunked.h"
#include "server/http/connection.h"
#include "server/http/exchange.h"

namespace rookery::server::http {

// The body of one request, taken from the connection as it is asked for, without its framing and never
// past its end: what follows is the next request.
class BodyReader final : public Body {
 public:
  // `limit`: bytes of content; more is a 413. `head` must outlive the reader.
  BodyReader(Connection& connection, const RequestHead& head, std::uint64_t limit, const Pace& pace) noexcept;

  std::string read_all(std::size_t cap) override;
  // After a failure it throws the same again.
  std::size_t read(std::span<char> to) override;
  [[nodiscard]] std::optional<std::uint64_t> declared_size() const override;

  // Reads over what is left, up to `max` bytes, waiting `patience` at most. False: the connection cannot
  // serve another request.
  [[nodiscard]] bool drain(std::size_t max, Pace::Milliseconds patience);

 private:
  [[nodiscard]] bool done() const noexcept;
  std::size_t some(std::span<char> to);
  std::size_t some_chunked(std::span<char> to);
  std::size_t receive(std::span<char> to);
  [[noreturn]] void fail(int status, std::string_view detail);
  void send_continue();

  Connection& connection_;
  const RequestHead& head_;
  std::uint64_t limit_;
  Pace pace_;
  std::uint64_t received_ = 0;
  bool continue_due_;
  ChunkedDecoder chunks_;
  std::optional<HttpError> failure_;
};

}  // namespace rookery::server::http

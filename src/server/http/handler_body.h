// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <httplib.h>

#include "server/http/body_reader.h"
#include "server/http/exchange.h"

namespace rookery::server::http {

// Body for handlers. A whole body comes through cpp-httplib's content reader; pieces come straight from
// the connection, because a reader that pushes cannot be asked for the next piece.
class HandlerBody final : public Body {
 public:
  // `reader` is null for methods that cpp-httplib reads no body for.
  HandlerBody(BodyReader& body, const RequestHead& head, const httplib::ContentReader* reader) noexcept
      : body_(body), head_(head), reader_(reader) {}

  std::string read_all(std::size_t cap) override;
  std::size_t read(std::span<char> to) override { return body_.read(to); }
  [[nodiscard]] std::optional<std::uint64_t> declared_size() const override;

 private:
  BodyReader& body_;
  const RequestHead& head_;
  const httplib::ContentReader* reader_;
};

}  // namespace rookery::server::http

// SPDX-License-Identifier: Apache-2.0
#include "server/http/handler_body.h"

#include <algorithm>

namespace rookery::server::http {

std::optional<std::uint64_t> HandlerBody::declared_size() const {
  if (head_.chunked) return std::nullopt;
  return head_.content_length.value_or(0);
}

std::string HandlerBody::read_all(std::size_t cap) {
  // A promise of the client's: no reason to reserve all of it before a byte came.
  constexpr std::uint64_t kReserve = 64 * 1024;
  const std::uint64_t declared = declared_size().value_or(0);
  if (declared > cap) throw HttpError::with_detail(413, "request body too large");
  std::string content;
  if (reader_ == nullptr || !head_.has_body()) return content;
  content.reserve(static_cast<std::size_t>(std::min(declared, kReserve)));
  bool over = false;
  const bool complete = (*reader_)([&](const char* bytes, std::size_t size) {
    over = content.size() + size > cap;
    if (!over) content.append(bytes, size);
    return !over;
  });
  if (body_.failure()) throw *body_.failure();
  if (over) throw HttpError::with_detail(413, "request body too large");
  if (!complete || !body_.done()) throw HttpError::with_detail(400, "the request body ended early");
  return content;
}

}  // namespace rookery::server::http

// SPDX-License-Identifier: Apache-2.0
#include "server/http/httplib_stream.h"

#include <algorithm>
#include <cstring>

namespace rookery::server::http {

namespace {
constexpr std::size_t kCollect = 64 * 1024;
}

ssize_t HttplibStream::read(char* to, size_t size) {
  if (!head_.empty()) {
    const std::size_t count = std::min(size, head_.size());
    std::memcpy(to, head_.data(), count);
    head_.remove_prefix(count);
    return static_cast<ssize_t>(count);
  }
  try {
    return static_cast<ssize_t>(body_.read({to, size}));
  } catch (const HttpError&) {
    return -1;  // kept in body_.failure(): no exception may cross cpp-httplib's frames here
  }
}

ssize_t HttplibStream::write(const char* from, size_t size) {
  if (broken_) return -1;
  if (out_.size() + size < kCollect) {
    out_.append(from, size);
  } else {
    broken_ = connection_.send(out_, {from, size}, pace_) != Io::kDone;
    out_.clear();
    if (broken_) return -1;
  }
  return static_cast<ssize_t>(size);
}

bool HttplibStream::flush() noexcept {
  if (!broken_ && !out_.empty()) broken_ = connection_.send(out_, {}, pace_) != Io::kDone;
  out_.clear();
  return !broken_;
}

}  // namespace rookery::server::http

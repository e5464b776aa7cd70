// SPDX-License-Identifier: Apache-2.0
#include "server/http/httplib_stream.h"

namespace rookery::server::http {

namespace {
constexpr std::size_t kCollect = 64 * 1024;
}

ssize_t HttplibStream::read(char* to, size_t size) {
  const std::size_t count = head_.copy(to, size);
  head_.remove_prefix(count);
  return static_cast<ssize_t>(count);
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

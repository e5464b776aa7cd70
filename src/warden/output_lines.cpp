// SPDX-License-Identifier: Apache-2.0
#include "warden/output_lines.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace rookery::warden {

void OutputLines::take(const std::function<void(std::string_view)>& line, std::string_view text) {
  if (text.empty() || lines_ > kMaxLines) return;
  line(lines_++ < kMaxLines ? text : std::string_view("prints too much: what follows is dropped"));
}

bool OutputLines::read(const std::function<void(std::string_view)>& line) {
  char bytes[4096];
  // One read a turn: whoever prints without end must not hold the warden.
  const ssize_t size = ::read(from_.get(), bytes, sizeof bytes);
  if (size < 0) return errno == EAGAIN || errno == EINTR;
  begun_.append(bytes, static_cast<std::size_t>(size));
  for (;;) {
    const std::size_t end = begun_.find('\n');
    if (end == std::string::npos && begun_.size() < kMaxLine && size > 0) return true;
    const std::size_t length = std::min({end, begun_.size(), kMaxLine});
    take(line, std::string_view(begun_).substr(0, length));
    begun_.erase(0, length + (length == end ? 1 : 0));
    if (begun_.empty()) return size > 0;
  }
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#include "util/bounded_output.h"

#include <algorithm>
#include <utility>

#include "util/utf8.h"

namespace rookery::util {

namespace {

constexpr std::size_t kMuch = 64 * 1024;  // bytes
constexpr std::size_t kAhead = 1 << 20;   // bytes

constexpr bool continues(char c) noexcept { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Bytes at the end of `text` that begin a character whose rest is missing.
std::size_t unfinished_at_end(std::string_view text) noexcept {
  for (std::size_t back = 1; back <= 3 && back <= text.size(); ++back) {
    const std::string_view end = text.substr(text.size() - back);
    if (continues(end.front())) continue;
    bool incomplete = false;
    return !utf8_step(end, &incomplete).valid && incomplete ? back : 0;
  }
  return 0;
}

// Bytes at the start of `text` that end a character whose beginning is missing.
std::size_t orphaned_at_start(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && count < 4 && continues(text[count])) ++count;
  return count <= 3 ? count : 0;  // four in a row are not UTF-8
}

}  // namespace

void BoundedOutput::append(std::string_view bytes) {
  if (kept_.size() < limit_) {
    const std::size_t taken = std::min(bytes.size(), limit_ - kept_.size());
    // After much at once comes more: growing by doubling would copy all of it once again.
    if (taken >= kMuch && kept_.capacity() - kept_.size() < taken) kept_.reserve(std::min(limit_, kept_.size() + kAhead));
    kept_.append(bytes.substr(0, taken));
    total_ += taken;
    bytes.remove_prefix(taken);
  }
  if (!bytes.empty()) append_to_ring(bytes);
}

void BoundedOutput::append_to_ring(std::string_view bytes) {
  if (bytes.size() > ring_size()) {
    total_ += bytes.size() - ring_size();
    bytes.remove_prefix(bytes.size() - ring_size());
  }
  const std::size_t start = static_cast<std::size_t>((total_ - head_size()) % ring_size());
  const std::size_t first = std::min(bytes.size(), ring_size() - start);
  bytes.copy(kept_.data() + head_size() + start, first);
  bytes.substr(first).copy(kept_.data() + head_size(), bytes.size() - first);
  total_ += bytes.size();
}

std::string BoundedOutput::finish() {
  const std::uint64_t total = std::exchange(total_, 0);
  std::string kept = std::exchange(kept_, {});
  if (total <= limit_) return kept;

  std::string_view head = std::string_view(kept).substr(0, head_size());
  head.remove_suffix(unfinished_at_end(head));
  const std::size_t oldest = static_cast<std::size_t>((total - head_size()) % ring_size());
  std::rotate(kept.begin() + static_cast<std::ptrdiff_t>(head_size()),
              kept.begin() + static_cast<std::ptrdiff_t>(head_size() + oldest), kept.end());
  std::string_view tail = std::string_view(kept).substr(head_size());
  tail.remove_prefix(orphaned_at_start(tail));

  std::string text;
  const std::string marker = "\n... [output truncated by sandbox: " + std::to_string(total - head.size() - tail.size()) +
                             " bytes elided]\n";
  text.reserve(head.size() + marker.size() + tail.size());
  return text.append(head).append(marker).append(tail);
}

}  // namespace rookery::util

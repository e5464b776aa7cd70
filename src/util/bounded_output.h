// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rookery::util {

// Collects a stream of unknown length in bounded memory: all of it while it is not longer than `limit` bytes, after
// that the first and the last half. Memory is proportional to what arrived and at most about `limit`; address space for up to a
// mebibyte more is taken ahead.
class BoundedOutput {
 public:
  // `limit` >= 2, in bytes.
  explicit BoundedOutput(std::size_t limit) noexcept : limit_(limit < 2 ? 2 : limit) {}

  void append(std::string_view bytes);

  // Bytes that arrived so far.
  [[nodiscard]] std::uint64_t total() const noexcept { return total_; }
  [[nodiscard]] bool truncated() const noexcept { return total_ > limit_; }

  // What was collected; leaves the object empty. Where bytes are missing stands
  // "\n... [output truncated by sandbox: N bytes elided]\n", N being exactly the number of bytes left out. A UTF-8 character is
  // never cut in two; bytes that are not UTF-8 are kept as they are.
  [[nodiscard]] std::string finish();

 private:
  void append_to_ring(std::string_view bytes);
  [[nodiscard]] std::size_t head_size() const noexcept { return limit_ / 2; }
  [[nodiscard]] std::size_t ring_size() const noexcept { return limit_ - head_size(); }

  std::size_t limit_;
  std::uint64_t total_ = 0;
  // The first limit_/2 bytes stay. Byte number n behind them is at head_size() + (n - head_size()) % ring_size(), which
  // for a stream within the limit is simply n.
  std::string kept_;
};

}  // namespace rookery::util

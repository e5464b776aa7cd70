// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "sys/unique_fd.h"
#include "util/bounded_output.h"

namespace rookery::server {

// One of the pipes that programs of a jail write to, during one call. Non-blocking at this end.
class OutputPipe {
 public:
  // A pipe holds at most so much (pipe(7), /proc/sys/fs/pipe-max-size), so what stood in it at some moment is read after
  // kMostReads reads of it.
  static constexpr std::size_t kMostBytes = 1 << 20;
  static constexpr std::size_t kReadSize = 64 * 1024;
  static constexpr int kMostReads = kMostBytes / kReadSize + 1;

  // `pipe` outlives this; which pipe it holds may change, as a jail is built anew. `limit`: bytes kept.
  OutputPipe(const sys::UniqueFd& pipe, std::size_t limit) noexcept : pipe_(pipe), kept_(limit) {}
  OutputPipe(const OutputPipe&) = delete;
  OutputPipe& operator=(const OutputPipe&) = delete;
  ~OutputPipe();

  // Told of the bytes as they are read, beside their collection.
  using Listener = std::function<void(std::string_view bytes)>;
  void listen(Listener listener) { listener_ = std::move(listener); }

  [[nodiscard]] int fd() const noexcept { return pipe_.get(); }
  // Takes what is there. False at the end of the stream: nobody in the jail holds the pipe any more.
  bool read(int most_reads);
  [[nodiscard]] std::uint64_t total() const noexcept { return kept_.total(); }
  [[nodiscard]] bool truncated() const noexcept { return kept_.truncated(); }
  [[nodiscard]] std::string finish() { return kept_.finish(); }

 private:
  const sys::UniqueFd& pipe_;
  util::BoundedOutput kept_;
  Listener listener_;
  int enlarged_ = -1;  // the descriptor whose pipe has been made larger for this call
};

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "sys/unique_fd.h"

namespace rookery::warden {

// What a process prints, line by line, for the log: bounded in the length of a line and in the number of lines.
class OutputLines {
 public:
  static constexpr std::size_t kMaxLine = 1000;   // bytes; the rest of a longer line is the next one
  static constexpr unsigned kMaxLines = 1000;     // of one process; further ones are dropped, which the last one says

  // `from`: the read end of a pipe, non-blocking.
  explicit OutputLines(sys::UniqueFd from) noexcept : from_(std::move(from)) {}

  [[nodiscard]] int fd() const noexcept { return from_.get(); }

  // Hands on what has come. False at the end of the output, after its last line.
  bool read(const std::function<void(std::string_view)>& line);

 private:
  void take(const std::function<void(std::string_view)>& line, std::string_view text);

  sys::UniqueFd from_;
  std::string begun_;
  unsigned lines_ = 0;
};

}  // namespace rookery::warden

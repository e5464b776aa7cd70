// SPDX-License-Identifier: Apache-2.0
#include "server/counters.h"

#include <unistd.h>

#include <charconv>
#include <string_view>

namespace rookery::server {

namespace {

std::string_view read_text(int fd, char (&buffer)[1024]) noexcept {
  const ssize_t size = ::pread(fd, buffer, sizeof buffer, 0);
  return {buffer, size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::uint64_t number(std::string_view text) noexcept {
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The number behind "key " at the start of a line; 0 when there is no such line.
std::uint64_t field(std::string_view text, std::string_view key) noexcept {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    if (line.size() > key.size() && line.starts_with(key) && line[key.size()] == ' ') return number(line.substr(key.size() + 1));
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return 0;
}

}  // namespace

std::uint64_t read_number(int fd) noexcept {
  char buffer[1024];
  return number(read_text(fd, buffer));
}

std::uint64_t read_cpu_us(int fd) noexcept {
  char buffer[1024];
  const std::string_view text = read_text(fd, buffer);
  return text.starts_with("usage_usec") ? field(text, "usage_usec") : number(text) / 1000;
}

std::uint64_t read_oom_kills(int fd) noexcept {
  char buffer[1024];
  return field(read_text(fd, buffer), "oom_kill");
}

std::uint64_t read_pids_denied(int fd) noexcept {
  char buffer[1024];
  return field(read_text(fd, buffer), "max");
}

}  // namespace rookery::server

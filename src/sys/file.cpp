// SPDX-License-Identifier: Apache-2.0
#include "sys/file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

#include "sys/error.h"
#include "sys/unique_fd.h"

namespace rookery::sys {

std::string read_all(int fd) {
  constexpr std::size_t most = 16u << 20;
  std::string text;
  char buffer[16384];
  while (text.size() < most) {
    const ssize_t size = ::read(fd, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) throw_errno("read");
    if (size == 0) break;
    text.append(buffer, static_cast<std::size_t>(size));
  }
  return text;
}

std::string read_file(const std::string& path) {
  const UniqueFd fd(check(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open " + path));
  return read_all(fd.get());
}

void write_file(const std::string& path, std::string_view text) {
  const UniqueFd fd(check(::open(path.c_str(), O_WRONLY | O_CLOEXEC), "open " + path + " for writing"));
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) throw_errno("write " + path);
}

}  // namespace rookery::sys

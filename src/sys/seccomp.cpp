// SPDX-License-Identifier: Apache-2.0
#include "sys/seccomp.h"

#include <linux/seccomp.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <stdexcept>

namespace rookery::sys {

int SeccompFilter::load() const noexcept {
  // A loaded program judges the next load too: the allowlist, which refuses seccomp(2), has to come last.
  for (auto program = programs_.rbegin(); program != programs_.rend(); ++program) {
    const sock_fprog loadable{static_cast<unsigned short>(program->size()), const_cast<sock_filter*>(program->data())};
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &loadable) != 0) return -1;
  }
  return 0;
}

// Each program as its length in instructions and the instructions.
std::string SeccompFilter::serialise() const {
  std::string bytes;
  for (const auto& program : programs_) {
    const std::uint32_t length = static_cast<std::uint32_t>(program.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof length);
    bytes.append(reinterpret_cast<const char*>(program.data()), program.size() * sizeof(sock_filter));
  }
  return bytes;
}

SeccompFilter SeccompFilter::deserialise(std::string_view bytes) {
  SeccompFilter filter;
  while (!bytes.empty()) {
    std::uint32_t length = 0;
    if (bytes.size() < sizeof length) throw std::runtime_error("a seccomp program is cut short");
    std::memcpy(&length, bytes.data(), sizeof length);
    bytes.remove_prefix(sizeof length);
    if (length == 0 || length > BPF_MAXINSNS || bytes.size() < length * sizeof(sock_filter)) {
      throw std::runtime_error("a seccomp program is cut short");
    }
    std::vector<sock_filter> program(length);
    std::memcpy(program.data(), bytes.data(), length * sizeof(sock_filter));
    bytes.remove_prefix(length * sizeof(sock_filter));
    filter.programs_.push_back(std::move(program));
  }
  if (filter.programs_.empty()) throw std::runtime_error("no seccomp program");
  return filter;
}

}  // namespace rookery::sys

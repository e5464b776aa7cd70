// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <dirent.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <string_view>

namespace rookery::server {

// Large enough for some hundred entries a system call.
struct alignas(8) DirectoryBuffer : std::array<char, 32 * 1024> {};

// Calls visit(name, d_type) for each entry of the freshly opened `directory` except "." and "..", until it returns false.
// Straight getdents64(2): readdir(3) would allocate. `name` ends with a NUL. False with errno set when reading fails.
template <typename Visit>
bool for_each_entry(int directory, DirectoryBuffer& buffer, Visit&& visit) {
  while (true) {
    const long filled = ::syscall(SYS_getdents64, directory, buffer.data(), buffer.size());
    if (filled <= 0) return filled == 0;
    for (std::size_t at = 0; at < static_cast<std::size_t>(filled);) {
      // The kernel's linux_dirent64 has the layout of glibc's dirent64, each record aligned to 8 bytes.
      const auto* entry = reinterpret_cast<const dirent64*>(buffer.data() + at);
      at += entry->d_reclen;
      const std::string_view name(entry->d_name);
      if (name == "." || name == "..") continue;
      if (!visit(name, entry->d_type)) return true;
    }
  }
}

}  // namespace rookery::server

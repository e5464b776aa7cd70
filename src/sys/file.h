// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rookery::sys {

// The rest of a small trusted file (at most 16 MiB). Throws std::system_error.
std::string read_all(int fd);
std::string read_file(const std::string& path);

// Writes an existing file, such as one of /proc, in one write(2). Throws std::system_error.
void write_file(const std::string& path, std::string_view text);

}  // namespace rookery::sys

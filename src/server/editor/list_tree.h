// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace rookery::server {

// The entries of the freshly opened `directory` and of its subdirectories, one a line, relative to it, each
// directory sorted by bytes and followed by what it holds. Symlinks are named, not followed. At most `max_entries`; when there
// are more, the last line says so.
[[nodiscard]] std::string list_two_levels(int directory, std::size_t max_entries);

}  // namespace rookery::server

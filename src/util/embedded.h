// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <vector>

// Files that were built into the program: policy/…, openapi.json, pages/…, the init, and the Python driver's directory
// as repl/….
namespace rookery::util {

struct EmbeddedFile {
  std::string_view name;
  std::string_view content;
};

std::vector<EmbeddedFile> embedded_files();

// Throws std::logic_error for a name that is not there.
std::string_view embedded_file(std::string_view name);

}  // namespace rookery::util

// SPDX-License-Identifier: Apache-2.0
#include "server/files/client_path.h"

#include <algorithm>
#include <cerrno>

namespace rookery::server {

namespace {

constexpr std::string_view kRoot = "workspace";
constexpr std::size_t kMaxPath = 4096;
constexpr std::size_t kMaxComponent = 255;

// Cuts the text up to the next slash off `rest`.
std::string_view next_component(std::string_view& rest) noexcept {
  const std::string_view component = rest.substr(0, rest.find('/'));
  rest.remove_prefix(component.size() == rest.size() ? rest.size() : component.size() + 1);
  return component;
}

}  // namespace

ClientPath normalise(std::string_view text) {
  ClientPath path;
  path.directory = true;
  path.relative.reserve(text.size());
  long depth = 0;
  const bool ends_with_slash = text.ends_with('/');
  while (!text.empty()) {
    const std::string_view component = next_component(text);
    path.directory = component.empty() || component == "." || component == "..";
    if (component.empty() || component == ".") continue;
    depth += component == ".." ? -1 : 1;
    path.leaves_as_text = path.leaves_as_text || depth < 0;
    if (!path.relative.empty()) path.relative += '/';
    path.relative += component;
  }
  path.directory = path.directory || ends_with_slash;
  if (path.relative.empty()) path.relative += '.';
  return path;
}

FileResult<ClientPath> parse_client_path(std::string_view path) {
  if (path.empty()) return FileError{400, "path is empty"};
  if (path.find('\0') != std::string_view::npos) return FileError{400, "path holds a NUL character"};
  if (path.size() > kMaxPath) return FileError{400, "path is longer than 4096 bytes"};
  for (std::string_view rest = path; !rest.empty();) {
    if (next_component(rest).size() > kMaxComponent) return FileError{400, "a name in the path is longer than 255 bytes"};
  }
  std::string_view rest = path;
  if (rest.front() == '/') {
    rest.remove_prefix(std::min(rest.find_first_not_of('/'), rest.size()));
    if (next_component(rest) != kRoot) return file_error(EXDEV, path);
  }
  ClientPath result = normalise(rest);
  if (path.ends_with('/')) result.directory = true;
  return result;
}

FileError path_error(int error, const ClientPath& path, std::string_view shown) {
  return file_error(path.leaves_as_text && (error == ENOENT || error == ENOTDIR) ? EXDEV : error, shown);
}

}  // namespace rookery::server

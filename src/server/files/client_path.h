// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "server/files/result.h"

namespace rookery::server {

// A client's path, relative to /workspace. Only its spelling is settled here; whether it stays inside is the
// kernel's decision (sys/beneath.h), because a symlink can turn any text into any place.
struct ClientPath {
  std::string relative;         // no leading, double or trailing slash, no "." component; "." for the root
  bool directory = false;       // written with a trailing "/", "/." or "/..", or is the root: cannot be a file
  bool leaves_as_text = false;  // more ".." than names before it at some point
};

// Accepts relative paths, `/workspace` and `/workspace/...` with any number of slashes. Nothing is decoded: "%2e"
// stays a name. Refused: empty, NUL, more than 4096 bytes, a component of more than 255 bytes (400), any other
// absolute path (403).
[[nodiscard]] FileResult<ClientPath> parse_client_path(std::string_view path);

// `text` without empty and "." components; also how link targets are read. Never fails; "" gives ".".
[[nodiscard]] ClientPath normalise(std::string_view text);

// file_error(), but what is missing on a path that leaves by its text is an escape (403), not a 404: the answer must not tell
// what exists outside.
[[nodiscard]] FileError path_error(int error, const ClientPath& path, std::string_view shown);

}  // namespace rookery::server

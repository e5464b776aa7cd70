// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <variant>

namespace rookery::server {

// Why a file operation was refused, ready for an HTTP answer or an editor's stderr. What a jail or a client
// did to its workspace is an outcome, so it is a value; only our own faults throw.
struct FileError {
  int status = 500;    // HTTP status: 400, 403, 404, 409, 413; 500 and 503 are our fault
  std::string detail;  // names the client's own path and the problem, nothing of the host
};

template <typename T>
using FileResult = std::variant<T, FileError>;

// The FileError of `error` (an errno value) met on the client's path `shown`.
[[nodiscard]] FileError file_error(int error, std::string_view shown);

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "server/files/result.h"
#include "sys/unique_fd.h"

namespace rookery::test {

// A directory below /tmp that plays /workspace, with a neighbour file `outside` that nothing may reach.
class Workspace {
 public:
  Workspace();
  ~Workspace();
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  [[nodiscard]] int fd() const noexcept { return fd_.get(); }
  [[nodiscard]] std::filesystem::path path(std::string_view name = {}) const { return root_ / "workspace" / name; }
  [[nodiscard]] std::filesystem::path outside() const { return root_ / "outside"; }

  // Parents are made.
  void write(std::string_view name, std::string_view content) const;
  [[nodiscard]] std::string read(std::string_view name) const;
  void link(std::string_view target, std::string_view name) const;
  void fifo(std::string_view name) const;
  void socket(std::string_view name) const;
  // Every path below the workspace, sorted: shows what is left behind.
  [[nodiscard]] std::vector<std::string> all() const;

 private:
  std::filesystem::path root_;
  sys::UniqueFd fd_;
};

// The status of a refusal, 0 for a result.
template <typename T>
int status_of(const server::FileResult<T>& result) {
  const auto* refused = std::get_if<server::FileError>(&result);
  return refused == nullptr ? 0 : refused->status;
}

}  // namespace rookery::test

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

namespace rookery::server {

// The place of a file, however its path was spelled: the directory it is in and its name there.
struct FilePlace {
  std::uint64_t device = 0;
  std::uint64_t directory_inode = 0;
  std::string name;
  bool operator==(const FilePlace&) const = default;
};

// Contents of files before their last edits, newest last. When it holds more than 100 edits or 16 MiB, the oldest go.
class UndoStack {
 public:
  static constexpr std::size_t kMaxEdits = 100;
  static constexpr std::size_t kMaxBytes = std::size_t{16} << 20;

  void push(FilePlace place, std::string before);

  // The newest content of that place, nullptr when there is none.
  [[nodiscard]] const std::string* newest(const FilePlace& place) const noexcept;
  void drop_newest(const FilePlace& place) noexcept;

  [[nodiscard]] std::size_t edits() const noexcept { return entries_.size(); }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  struct Entry {
    FilePlace place;
    std::string before;
  };
  std::list<Entry> entries_;
  std::size_t bytes_ = 0;
};

}  // namespace rookery::server

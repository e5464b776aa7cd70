// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>

#include "server/files/client_path.h"
#include "server/files/directory.h"
#include "server/files/file_reader.h"
#include "server/files/media_type.h"
#include "sys/beneath.h"

namespace rookery::server {

namespace {

// The names that may be listed: the first max_entries + 1 in order, however many the session made.
struct Names {
  std::size_t limit;
  std::vector<std::string> heap;  // largest on top

  void add(std::string_view name) {
    if (heap.size() == limit) {
      if (name >= heap.front()) return;
      std::ranges::pop_heap(heap);
      heap.pop_back();
    }
    heap.emplace_back(name);
    std::ranges::push_heap(heap);
  }
};

contract::FileMetadata metadata(std::string path, const struct stat& status) {
  contract::FileMetadata file;
  file.size_bytes = static_cast<std::uint64_t>(status.st_size);
  file.mime_type = guess_media_type(path);
  file.modified_at = static_cast<double>(status.st_mtim.tv_sec) + static_cast<double>(status.st_mtim.tv_nsec) * 1e-9;
  file.path = std::move(path);
  return file;
}

// A regular file of that name, or one inside the workspace that a link of that name leads to.
std::optional<struct stat> regular_file(int workspace, int directory, const std::string& path, const char* name) {
  struct stat status {};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0) return std::nullopt;
  if (S_ISLNK(status.st_mode)) {
    const sys::UniqueFd end = sys::open_beneath(workspace, path, O_PATH);
    if (!end || ::fstat(end.get(), &status) != 0) return std::nullopt;
  }
  if (!S_ISREG(status.st_mode)) return std::nullopt;
  return status;
}

}  // namespace

FileResult<FileListing> list_files(int workspace, std::string_view path, std::size_t max_entries) {
  const auto parsed = parse_client_path(path);
  if (const auto* refused = std::get_if<FileError>(&parsed)) return *refused;
  const auto& target = std::get<ClientPath>(parsed);
  const std::string opened = target.relative + (target.directory ? "/" : "");

  const sys::UniqueFd directory = sys::open_beneath(workspace, opened, O_RDONLY | O_DIRECTORY);
  FileListing listing;
  if (!directory) {
    const int error = errno;
    struct stat status {};
    const sys::UniqueFd file = error == ENOTDIR ? sys::open_beneath(workspace, opened, O_PATH) : sys::UniqueFd();
    if (!file || ::fstat(file.get(), &status) != 0) return path_error(error == ENOTDIR ? ENOENT : error, target, path);
    if (S_ISREG(status.st_mode)) listing.files.push_back(metadata(target.relative, status));
    return listing;
  }

  Names names{max_entries + 1, {}};
  const auto buffer = std::make_unique<DirectoryBuffer>();
  const bool read = for_each_entry(directory.get(), *buffer, [&](std::string_view name, unsigned char type) {
    if (type == DT_REG || type == DT_LNK || type == DT_UNKNOWN) names.add(name);
    return true;
  });
  if (!read) return file_error(errno, path);
  std::ranges::sort_heap(names.heap);
  if (names.heap.size() > max_entries) {
    listing.truncated = true;
    names.heap.pop_back();
  }

  const std::string prefix = target.relative == "." ? "" : target.relative + "/";
  listing.files.reserve(names.heap.size());
  for (const std::string& name : names.heap) {
    std::string full = prefix + name;
    const auto status = regular_file(workspace, directory.get(), full, name.c_str());
    if (status) listing.files.push_back(metadata(std::move(full), *status));
  }
  return listing;
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/files/upload_file.h"

#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "server/files/client_path.h"
#include "server/files/new_file.h"

namespace rookery::server {

namespace {

constexpr mode_t kMode = 0644;

}  // namespace

UploadFile::UploadFile(std::unique_ptr<NewFile> file, std::string shown, std::string relative)
    : file_(std::move(file)), shown_(std::move(shown)), relative_(std::move(relative)) {}
UploadFile::UploadFile(UploadFile&&) noexcept = default;
UploadFile& UploadFile::operator=(UploadFile&&) noexcept = default;
UploadFile::~UploadFile() = default;

namespace {

struct Destination {
  ClientPath path;
  WriteTarget target;
};

// Where an upload to `path` goes: a regular file, or nothing yet.
FileResult<Destination> find_destination(int workspace, std::string_view path) {
  auto parsed = parse_client_path(path);
  if (const auto* refused = std::get_if<FileError>(&parsed)) return *refused;
  Destination found{std::get<ClientPath>(std::move(parsed)), {}};
  int error = resolve_write_target(workspace, found.path, found.target);
  if (error == 0 && found.target.exists && S_ISDIR(found.target.status.st_mode)) error = EISDIR;
  if (error == 0 && found.target.exists && !S_ISREG(found.target.status.st_mode)) error = ENXIO;
  if (error != 0) return path_error(error, found.path, path);
  return found;
}

}  // namespace

FileResult<UploadFile> UploadFile::begin(int workspace, std::string_view path) {
  auto found = find_destination(workspace, path);
  if (const auto* refused = std::get_if<FileError>(&found)) return *refused;
  auto& destination = std::get<Destination>(found);
  auto file = std::make_unique<NewFile>(workspace);
  const int error = file->open(std::move(destination.target));
  if (error != 0) return path_error(error, destination.path, path);
  return UploadFile(std::move(file), std::string(path), std::move(destination.path.relative));
}

std::optional<FileError> UploadFile::move_to(int workspace, std::string_view path) {
  auto found = find_destination(workspace, path);
  if (const auto* refused = std::get_if<FileError>(&found)) return *refused;
  auto& destination = std::get<Destination>(found);
  const int error = file_->move_to(std::move(destination.target));
  if (error != 0) return path_error(error, destination.path, path);
  shown_ = path;
  relative_ = std::move(destination.path.relative);
  return std::nullopt;
}

std::optional<FileError> UploadFile::write(std::string_view bytes) {
  const int error = file_->write(bytes);
  if (error != 0) return file_error(error, shown_);
  size_ += bytes.size();
  return std::nullopt;
}

FileResult<Uploaded> UploadFile::commit(const RecordOwnWrite& record) {
  const int error = file_->publish(kMode, NewFile::Existing::kReplace, record);
  if (error != 0) return file_error(error, shown_);
  return Uploaded{relative_, size_};
}

}  // namespace rookery::server

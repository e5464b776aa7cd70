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

FileResult<UploadFile> UploadFile::begin(int workspace, std::string_view path) {
  auto parsed = parse_client_path(path);
  if (const auto* refused = std::get_if<FileError>(&parsed)) return *refused;
  auto& wanted = std::get<ClientPath>(parsed);

  WriteTarget target;
  int error = resolve_write_target(workspace, wanted, target);
  if (error == 0 && target.exists && S_ISDIR(target.status.st_mode)) error = EISDIR;
  if (error == 0 && target.exists && !S_ISREG(target.status.st_mode)) error = ENXIO;
  auto file = std::make_unique<NewFile>(workspace);
  if (error == 0) error = file->open(std::move(target));
  if (error != 0) return path_error(error, wanted, path);
  return UploadFile(std::move(file), std::string(path), std::move(wanted.relative));
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

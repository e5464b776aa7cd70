// SPDX-License-Identifier: Apache-2.0
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <vector>

#include "contract/json.h"
#include "server/files/file_reader.h"
#include "server/files/media_type.h"
#include "server/files/upload_file.h"
#include "server/handlers.h"
#include "server/http/multipart.h"
#include "server/refusal.h"

namespace rookery::server {

namespace {

http::HttpError invalid_field(std::string_view where, std::string_view field, std::string_view message, std::string_view type) {
  return http::HttpError(422, contract::error_json({{{std::string(where), std::string(field)}, std::string(message), std::string(type)}}));
}

template <typename T>
T accepted(FileResult<T> result) {
  if (const auto* error = std::get_if<FileError>(&result)) throw refusal(error->status, error->detail);
  return std::get<T>(std::move(result));
}

// A file on its way from the network to the workspace. The part `path` may come before or behind `file`: a file whose
// place is not known yet is written to an unnamed file, which moves before it is made visible.
class Upload {
 public:
  Upload(Session& session, std::uint64_t most) : session_(session), most_(most) {}

  void on_part(const http::PartHeader& part) {
    part_ = part.name;
    if (part_ == "file") {
      if (seen_) throw refusal(400, "more than one file in one upload");
      seen_ = true;
      name_ = part.filename.value_or("");
      if (path_ && !path_->empty()) begin(*path_);
    } else if (part_ == "path") {
      if (path_) throw refusal(400, "more than one path in one upload");
      path_.emplace();
    }
  }

  void on_data(std::string_view bytes) {
    if (session_.closed()) throw refusal(404, "session not found");
    if (part_ == "path") {
      if (path_->size() + bytes.size() > 4096) throw refusal(400, "path is too long");
      path_->append(bytes);
    } else if (part_ == "file") {
      size_ += bytes.size();
      if (size_ > most_) throw refusal(413, "file exceeds " + std::to_string(most_ >> 20) + " MB limit");
      if (!file_) begin(kUnplaced);
      if (const auto error = file_->write(bytes)) throw refusal(error->status, error->detail);
    }
  }

  Uploaded finish() {
    if (!seen_) throw invalid_field("body", "file", "Field required", "missing");
    if (path_ && path_->empty()) throw refusal(400, "path is empty");
    const std::string where = path_ ? *path_ : own_name();
    if (!file_) begin(where);
    if (!placed_) {
      if (const auto error = file_->move_to(session_.workspace(), where)) throw refusal(error->status, error->detail);
    }
    return accepted(file_->commit(session_.snapshot.recorder()));
  }

 private:
  // Without a path the file's own name counts, and only as a name.
  [[nodiscard]] std::string own_name() const {
    if (name_.empty()) return "upload.bin";
    if (name_ == "." || name_ == ".." || name_.find('/') != std::string::npos || name_.find('\\') != std::string::npos) {
      throw refusal(400, "the file's own name is not a plain name: send a path");
    }
    return name_;
  }
  void begin(const std::string& path) {
    placed_ = path != kUnplaced;
    file_.emplace(accepted(UploadFile::begin(session_.workspace(), path)));
  }

  // A name that no file gets: content without a place waits unnamed.
  static constexpr const char* kUnplaced = ".rookery-upload";

  Session& session_;
  std::uint64_t most_;
  std::uint64_t size_ = 0;
  std::string part_;
  std::string name_;
  bool seen_ = false;
  bool placed_ = false;
  std::optional<std::string> path_;
  std::optional<UploadFile> file_;
};

const std::string& path_parameter(const http::Request& request) {
  const auto found = request.head.query.find("path");
  if (found == request.head.query.end()) throw invalid_field("query", "path", "Field required", "missing");
  return found->second;
}

}  // namespace

void Handlers::put_file(http::Request& request, http::Response& response) {
  const auto target = session(request);
  const Session::Activity activity(*target);
  const auto boundary = http::multipart_boundary(request.head.content_type);
  if (!boundary) throw invalid_field("body", "file", "Field required as multipart/form-data", "missing");
  Upload upload(*target, std::uint64_t{settings_.max_upload_mb} << 20);
  http::MultipartEvents events;
  events.on_part = [&](const http::PartHeader& part) { upload.on_part(part); };
  events.on_data = [&](std::string_view bytes) { upload.on_data(bytes); };
  events.on_part_end = [] {};
  http::MultipartParser parser(*boundary, std::move(events));
  std::vector<char> buffer(256 * 1024);
  while (const std::size_t size = request.body.read(buffer)) {
    if (!parser.feed({buffer.data(), size})) throw refusal(400, parser.error());
  }
  if (!parser.finish()) throw refusal(400, parser.error());
  const Uploaded uploaded = upload.finish();
  response.status = 201;
  response.body = contract::upload_result_json(uploaded.path, uploaded.size_bytes);
}

void Handlers::get_file(const http::Request& request, http::Response& response) const {
  const auto target = session(request);
  const auto activity = std::make_shared<Session::Activity>(*target);
  auto file = std::make_shared<OpenedFile>(accepted(open_for_read(target->workspace(), path_parameter(request))));
  response.content_type = download_media_type(file->name);
  response.fields = {{"Content-Disposition", content_disposition(file->name)}, {"Content-Security-Policy", "sandbox; default-src 'none'"}};
  http::StreamedBody stream;
  stream.size = file->size;
  stream.provide = [target, activity, file](std::uint64_t offset, std::uint64_t length, const http::Sink& sink) {
    static thread_local std::vector<char> buffer(512 * 1024);
    if (target->closed()) return false;
    const std::size_t wanted = std::min<std::uint64_t>(length, buffer.size());
    ssize_t size;
    do {
      size = ::pread(file->fd.get(), buffer.data(), wanted, static_cast<off_t>(offset));
    } while (size < 0 && errno == EINTR);
    // 0: the session has cut the file short meanwhile; the promised length cannot be kept.
    return size > 0 && sink({buffer.data(), static_cast<std::size_t>(size)});
  };
  response.stream = std::move(stream);
}

void Handlers::list_files(const http::Request& request, http::Response& response) const {
  const auto target = session(request);
  const Session::Activity activity(*target);
  const auto given = request.head.query.find("path");
  const std::string path = given == request.head.query.end() ? "." : given->second;
  const FileListing listing = accepted(server::list_files(target->workspace(), path));
  response.body = contract::to_json(listing.files, listing.truncated);
}

}  // namespace rookery::server

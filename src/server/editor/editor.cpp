// SPDX-License-Identifier: Apache-2.0
#include "server/editor/editor.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "server/editor/list_tree.h"
#include "server/editor/text_edit.h"
#include "server/files/client_path.h"
#include "server/files/file_reader.h"
#include "server/files/new_file.h"
#include "sys/beneath.h"
#include "util/bounded_output.h"

namespace rookery::server {

namespace {

constexpr mode_t kNewFileMode = 0644;

FileError refusal(std::string detail) { return {400, std::move(detail)}; }

// 0 or an errno value.
int write_file(int workspace, WriteTarget target, mode_t mode, NewFile::Existing existing, std::string_view text,
               const RecordOwnWrite& record) {
  NewFile file(workspace);
  int error = file.open(std::move(target));
  if (error == 0) error = file.write(text);
  return error != 0 ? error : file.publish(mode, existing, record);
}

FilePlace place_of(int workspace, const WriteTarget& target) {
  struct stat parent {};
  const sys::UniqueFd directory = sys::open_beneath(workspace, target.parent, O_PATH | O_DIRECTORY);
  if (directory) static_cast<void>(::fstat(directory.get(), &parent));
  return {parent.st_dev, parent.st_ino, target.name};
}

}  // namespace

struct Editor::Call {
  int workspace;
  const contract::EditorInput& input;
  const RecordOwnWrite& record;
  ClientPath path;

  [[nodiscard]] FileError error(int number) const { return path_error(number, path, input.path); }
};

struct Editor::Existing {
  WriteTarget target;
  std::string text;
};

contract::CallOutcome Editor::run(int workspace, const contract::EditorInput& input, const RecordOwnWrite& record) {
  auto path = parse_client_path(input.path);
  Answer answer = FileError{};
  if (auto* refused = std::get_if<FileError>(&path)) {
    answer = std::move(*refused);
  } else {
    const Call call{workspace, input, record, std::get<ClientPath>(std::move(path))};
    switch (input.command) {
      case contract::EditorCommand::kView:
        answer = view(call);
        break;
      case contract::EditorCommand::kCreate:
        answer = create(call);
        break;
      case contract::EditorCommand::kStrReplace:
        answer = str_replace(call);
        break;
      case contract::EditorCommand::kInsert:
        answer = insert(call);
        break;
      case contract::EditorCommand::kUndoEdit:
        answer = undo_edit(call);
        break;
    }
  }
  contract::CallOutcome outcome;
  const auto* const refused = std::get_if<FileError>(&answer);
  refused_path_ = refused != nullptr && refused->status == 403;
  if (refused != nullptr) {
    outcome.return_code = 1;
    outcome.err = "text_editor: " + refused->detail + "\n";
    return outcome;
  }
  outcome.out = std::get<std::string>(std::move(answer));
  if (outcome.out.size() > limits_.output_bytes) {
    util::BoundedOutput bounded(limits_.output_bytes);
    bounded.append(std::exchange(outcome.out, {}));
    outcome.out = bounded.finish();
    outcome.limit = contract::Limit::kOutput;
  }
  return outcome;
}

FileResult<std::string> Editor::read(const Call& call) const {
  auto opened = open_for_read(call.workspace, call.input.path, limits_.file_bytes);
  if (auto* refused = std::get_if<FileError>(&opened)) return std::move(*refused);
  const auto& file = std::get<OpenedFile>(opened);
  std::string text(file.size, '\0');
  std::size_t filled = 0;
  while (filled < text.size()) {
    const ssize_t got = ::read(file.fd.get(), text.data() + filled, text.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return call.error(errno);
    if (got == 0) break;  // it became shorter meanwhile
    filled += static_cast<std::size_t>(got);
  }
  text.resize(filled);
  return text;
}

FileResult<Editor::Existing> Editor::load(const Call& call) const {
  Existing file;
  const int error = resolve_write_target(call.workspace, call.path, file.target);
  if (error != 0) return call.error(error == ENOTDIR ? ENOENT : error);
  if (!file.target.exists) return call.error(ENOENT);
  auto text = read(call);
  if (auto* refused = std::get_if<FileError>(&text)) return std::move(*refused);
  file.text = std::get<std::string>(std::move(text));
  return file;
}

Editor::Answer Editor::save(const Call& call, Existing&& file, std::string text, std::string done) {
  if (text.size() > limits_.file_bytes) return call.error(EFBIG);
  FilePlace place = place_of(call.workspace, file.target);
  const mode_t mode = file.target.status.st_mode;
  const int error =
      write_file(call.workspace, std::move(file.target), mode, NewFile::Existing::kReplace, text, call.record);
  if (error != 0) return call.error(error);
  undo_.push(std::move(place), std::move(file.text));
  return done + " " + call.input.path + "\n";
}

Editor::Answer Editor::view(const Call& call) const {
  auto content = read(call);
  if (auto* refused = std::get_if<FileError>(&content)) {
    const sys::UniqueFd directory = sys::open_beneath(call.workspace, call.path.relative, O_RDONLY | O_DIRECTORY);
    if (directory) return list_two_levels(directory.get(), limits_.listed_entries);
    return std::move(*refused);
  }
  auto& text = std::get<std::string>(content);
  if (!call.input.view_range) return std::move(text);

  const auto [first, last] = *call.input.view_range;
  const auto lines = static_cast<std::int64_t>(count_lines(text));
  const std::int64_t begin = std::max<std::int64_t>(first, 1);
  const std::int64_t end = last == -1 ? lines : std::min(last, lines);
  if (lines == 0 && begin == 1) return std::string();
  if (begin > lines || end < begin) {
    return refusal("view_range [" + std::to_string(first) + ", " + std::to_string(last) + "] shows no line of " +
                   call.input.path + ", which has " + std::to_string(lines));
  }
  return std::string(line_range(text, static_cast<std::size_t>(begin), static_cast<std::size_t>(end)));
}

Editor::Answer Editor::create(const Call& call) const {
  const auto& text = call.input.file_text;
  if (!text) return refusal("create requires file_text");
  if (text->size() > limits_.file_bytes) return call.error(EFBIG);
  WriteTarget target;
  int error = resolve_write_target(call.workspace, call.path, target);
  if (error == 0 && target.exists) error = EEXIST;
  if (error == 0) {
    error = write_file(call.workspace, std::move(target), kNewFileMode, NewFile::Existing::kRefuse, *text, call.record);
  }
  if (error != 0) return call.error(error);
  return "File created: " + call.input.path + "\n";
}

Editor::Answer Editor::str_replace(const Call& call) {
  const auto& input = call.input;
  if (!input.old_str || !input.new_str) return refusal("str_replace requires old_str and new_str");
  if (input.old_str->empty()) return refusal("old_str must not be empty");
  auto loaded = load(call);
  if (auto* refused = std::get_if<FileError>(&loaded)) return std::move(*refused);
  auto& file = std::get<Existing>(loaded);
  Replacement replaced = replace_once(file.text, *input.old_str, *input.new_str);
  if (replaced.matches == 0) return refusal("old_str not found in " + input.path);
  if (replaced.matches > 1) {
    return refusal("old_str matched " + std::to_string(replaced.matches) + " times in " + input.path + "; must be unique");
  }
  return save(call, std::move(file), std::move(replaced.text), "Edited");
}

Editor::Answer Editor::insert(const Call& call) {
  const auto& input = call.input;
  if (!input.new_str || !input.insert_line) return refusal("insert requires new_str and insert_line");
  auto loaded = load(call);
  if (auto* refused = std::get_if<FileError>(&loaded)) return std::move(*refused);
  auto& file = std::get<Existing>(loaded);
  auto edited = insert_after(file.text, *input.insert_line, *input.new_str);
  if (!edited) return refusal("insert_line " + std::to_string(*input.insert_line) + " out of range for " + input.path);
  return save(call, std::move(file), std::move(*edited), "Inserted into");
}

Editor::Answer Editor::undo_edit(const Call& call) {
  WriteTarget target;
  int error = resolve_write_target(call.workspace, call.path, target);
  if (error == EISDIR) error = ENOENT;  // a directory was never edited
  if (error != 0 && error != ENOENT) return call.error(error);
  const FilePlace place = place_of(call.workspace, target);
  const std::string* before = error == 0 ? undo_.newest(place) : nullptr;
  if (before == nullptr && !target.exists && call.path.leaves_as_text) return call.error(ENOENT);
  if (before == nullptr) return refusal("no edits to undo for " + call.input.path);
  if (target.exists && !S_ISREG(target.status.st_mode)) return call.error(ENXIO);
  const mode_t mode = target.exists ? target.status.st_mode : kNewFileMode;
  error = write_file(call.workspace, std::move(target), mode, NewFile::Existing::kReplace, *before, call.record);
  if (error != 0) return call.error(error);
  undo_.drop_newest(place);
  return "Reverted " + call.input.path + "\n";
}

}  // namespace rookery::server

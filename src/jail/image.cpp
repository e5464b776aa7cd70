// SPDX-License-Identifier: Apache-2.0
#include "jail/image.h"

#include <fcntl.h>
#include <rapidjson/document.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "jail/interpreter.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/unique_fd.h"

namespace rookery::jail {

namespace {

namespace fs = std::filesystem;

void write_new(const fs::path& at, const std::string& text) {
  const sys::UniqueFd fd(sys::check(::open(at.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "create " + at.string()));
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) sys::throw_errno("write " + at.string());
}

std::vector<std::string> strings(const rapidjson::Document& policy, const char* key) {
  std::vector<std::string> result;
  const auto found = policy.FindMember(key);
  if (found == policy.MemberEnd() || !found->value.IsArray()) throw std::runtime_error(std::string("filesystem policy: no list ") + key);
  for (const auto& value : found->value.GetArray()) result.emplace_back(value.GetString(), value.GetStringLength());
  return result;
}

std::string with_uid(std::string text, uid_t uid) {
  static constexpr std::string_view kMark = "@UID@";
  for (auto at = text.find(kMark); at != std::string::npos; at = text.find(kMark)) text.replace(at, kMark.size(), std::to_string(uid));
  return text;
}

// One path of the source, at the same path of the image: a link is made again, a directory or file is bound.
void show(const ImageRequest& request, const std::string& path) {
  const fs::path from = request.source + path;
  const fs::path to = request.root + path;
  std::error_code absent;
  const fs::file_status status = fs::symlink_status(from, absent);
  if (absent || !fs::exists(status)) return;
  fs::create_directories(to.parent_path());
  if (fs::exists(fs::symlink_status(to))) return;  // shown by a tree above it
  if (fs::is_symlink(status)) {
    fs::copy_symlink(from, to);
    return;
  }
  if (fs::is_directory(status)) {
    fs::create_directory(to);
  } else {
    write_new(to, "");
  }
  sys::bind(from, to, true);
}

// The path is already visible when it or a directory above it is one of the trees.
bool visible(const std::vector<std::string>& trees, const std::string& path) {
  return std::any_of(trees.begin(), trees.end(), [&](const std::string& tree) {
    return path == tree || (path.starts_with(tree) && path[tree.size()] == '/');
  });
}

std::vector<std::string> present_in_proc(std::vector<std::string> names) {
  std::erase_if(names, [](const std::string& name) { return ::access(("/proc/" + name).c_str(), F_OK) != 0; });
  return names;
}

}  // namespace

Image build_image(const ImageRequest& request) {
  rapidjson::Document policy;
  policy.Parse(request.filesystem_policy.data(), request.filesystem_policy.size());
  if (policy.HasParseError() || !policy.IsObject()) throw std::runtime_error("filesystem policy: not a JSON object");

  const Interpreter interpreter = find_interpreter(request.source, request.python);
  const std::vector<std::string> trees = strings(policy, "trees");
  for (const std::string& tree : trees) show(request, tree);
  for (const std::string& file : strings(policy, "files")) show(request, file);
  for (const std::string& prefix : interpreter.prefixes) {
    if (!visible(trees, prefix)) show(request, prefix);
  }
  for (const auto& entry : policy["written"].GetObject()) {
    write_new(request.root + entry.name.GetString(), with_uid(entry.value.GetString(), request.inner_uid));
  }
  for (const std::string& directory : strings(policy, "directories")) fs::create_directories(request.root + directory);
  for (const auto& entry : policy["links"].GetObject()) {
    fs::create_symlink(entry.value.GetString(), request.root + entry.name.GetString());
  }

  const std::vector<std::string> devices = strings(policy, "devices");
  for (const std::string& device : devices) write_new(request.root + device, "");

  // A mount of its own, so that it can be copied and entered; then all of it read-only and powerless.
  sys::bind(request.root, request.root, true);
  sys::restrict_mount(request.root, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV, true);

  for (const std::string& device : devices) {
    sys::bind(device, request.root + device);
    sys::restrict_mount(request.root + device, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC);
  }

  Image image;
  image.name = request.name;
  image.root = request.root;
  image.python = interpreter.path;
  image.environment = interpreter.environment;
  image.proc_masked_files = present_in_proc(strings(policy, "proc_masked_files"));
  image.proc_masked_directories = present_in_proc(strings(policy, "proc_masked_directories"));
  image.proc_read_only = present_in_proc(strings(policy, "proc_read_only"));
  return image;
}

}  // namespace rookery::jail

// SPDX-License-Identifier: Apache-2.0
#include "jail/image.h"

#include <fcntl.h>
#include <rapidjson/document.h>
#include <sys/mount.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "jail/image_tree.h"
#include "jail/interpreter.h"
#include "sys/beneath.h"
#include "sys/mount.h"
#include "sys/unique_fd.h"

namespace rookery::jail {

namespace {

namespace fs = std::filesystem;

std::vector<std::string> strings(const rapidjson::Value& policy, const char* key) {
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

std::vector<std::string> names(const rapidjson::Value& object) {
  std::vector<std::string> result;
  for (const auto& entry : object.GetObject()) result.emplace_back(entry.name.GetString());
  return result;
}

// What the host shows to jails.
void show_host(const std::string& root, const rapidjson::Value& policy, const Interpreter& interpreter) {
  const std::vector<std::string> trees = strings(policy, "trees");
  for (const std::string& tree : trees) show_path("", root, tree);
  for (const std::string& file : strings(policy, "files")) show_path("", root, file);
  for (const std::string& prefix : interpreter.prefixes) {
    if (!visible(trees, prefix)) show_path("", root, prefix);
  }
}

// A root file system of the operator's, all of it.
void show_root_file_system(const ImageRequest& request, const rapidjson::Value& policy) {
  const auto& rules_of_policy = policy["root_file_systems"];
  TreeRules rules{strings(policy, "directories"), strings(rules_of_policy, "hidden"), strings(rules_of_policy, "copied")};
  for (const char* key : {"written", "links"}) {
    for (std::string& name : names(policy[key])) rules.own.push_back(std::move(name));
  }
  show_tree(request.source, request.root, rules);
}

// The modules that the image itself names for its zygote; "" when it names none.
std::string preload_of(const std::string& source) {
  const sys::UniqueFd root(::open(source.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  const sys::UniqueFd file = sys::open_in_root(root.get(), kPreloadPath, O_RDONLY);
  std::string text(kMaxPreload + 1, '\0');
  const ssize_t size = file ? ::read(file.get(), text.data(), text.size()) : 0;
  if (size > static_cast<ssize_t>(kMaxPreload)) {
    throw std::runtime_error(source + kPreloadPath + " is too long: at most " + std::to_string(kMaxPreload) + " bytes");
  }
  text.resize(size > 0 ? static_cast<std::size_t>(size) : 0);
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

}  // namespace

Image build_image(const ImageRequest& request) {
  rapidjson::Document policy;
  policy.Parse(request.filesystem_policy.data(), request.filesystem_policy.size());
  if (policy.HasParseError() || !policy.IsObject()) throw std::runtime_error("filesystem policy: not a JSON object");

  const Interpreter interpreter = find_interpreter(request.source, request.python);
  if (request.source.empty()) {
    show_host(request.root, policy, interpreter);
  } else {
    show_root_file_system(request, policy);
  }
  for (const auto& entry : policy["written"].GetObject()) {
    fs::create_directories(fs::path(request.root + entry.name.GetString()).parent_path());
    write_new_file(request.root + entry.name.GetString(), with_uid(entry.value.GetString(), request.inner_uid));
  }
  for (const std::string& directory : strings(policy, "directories")) fs::create_directories(request.root + directory);
  for (const auto& entry : policy["links"].GetObject()) {
    fs::create_symlink(entry.value.GetString(), request.root + entry.name.GetString());
  }

  const std::vector<std::string> devices = strings(policy, "devices");
  for (const std::string& device : devices) write_new_file(request.root + device, "");

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
  image.preload = request.source.empty() ? request.preload : preload_of(request.source);
  image.proc_masked_files = present_in_proc(strings(policy, "proc_masked_files"));
  image.proc_masked_directories = present_in_proc(strings(policy, "proc_masked_directories"));
  image.proc_read_only = present_in_proc(strings(policy, "proc_read_only"));
  return image;
}

}  // namespace rookery::jail

// SPDX-License-Identifier: Apache-2.0
#include "jail/image_tree.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <stdexcept>

#include "sys/error.h"
#include "sys/mount.h"
#include "sys/unique_fd.h"

namespace rookery::jail {

namespace {

namespace fs = std::filesystem;

bool contains(const std::vector<std::string>& paths, const std::string& path) {
  return std::find(paths.begin(), paths.end(), path) != paths.end();
}

// A directory with one of these somewhere below it cannot be bound as a whole.
bool leads_to(const std::vector<std::string>& paths, const std::string& path) {
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& other) { return other.starts_with(path + "/"); });
}

bool readable(const fs::path& path) { return ::access(path.c_str(), R_OK) == 0; }

bool nothing_in(const fs::path& directory) {
  std::error_code unreadable;
  return fs::is_empty(directory, unreadable) && !unreadable;
}

// What cannot be read (private keys, /etc/shadow) could not be read in a jail either, and is left out; so is what is no
// file, directory or link.
void copy_tree(const std::string& source, const std::string& root, const std::string& path, const TreeRules& rules, std::uint64_t& left) {
  fs::create_directories(root + path);
  if (!readable(source + path)) return;
  for (const fs::directory_entry& entry : fs::directory_iterator(source + path)) {
    const std::string name = path + "/" + entry.path().filename().string();
    if (contains(rules.own, name) || contains(rules.hidden, name)) continue;
    if (entry.is_symlink()) {
      fs::copy_symlink(entry.path(), root + name);
    } else if (entry.is_directory()) {
      copy_tree(source, root, name, rules, left);
    } else if (entry.is_regular_file() && readable(entry.path())) {
      if (entry.file_size() > left) {
        throw std::runtime_error(source + path + " holds too much: of /etc and what is below it, " + std::to_string(kMaxCopied >> 20) +
                                 " MiB can be shown; move large files elsewhere, e.g. below /usr/share");
      }
      left -= entry.file_size();
      fs::copy_file(entry.path(), root + name);
    }
  }
}

void show_below(const std::string& source, const std::string& root, const std::string& path, const TreeRules& rules) {
  for (const fs::directory_entry& entry : fs::directory_iterator(source + path)) {
    const std::string name = path + "/" + entry.path().filename().string();
    if (contains(rules.own, name) || contains(rules.hidden, name)) continue;
    const bool needed = contains(rules.copied, name) || leads_to(rules.own, name);
    if (needed && (entry.is_symlink() || !entry.is_directory())) {
      throw std::runtime_error(source + name + " has to be a directory: a jail makes files or directories of its own in it");
    }
    if (contains(rules.copied, name)) {
      std::uint64_t left = kMaxCopied;
      copy_tree(source, root, name, rules, left);
    } else if (needed) {
      fs::create_directory(root + name);
      show_below(source, root, name, rules);
    } else if (!entry.is_symlink() && entry.is_directory() && nothing_in(entry.path())) {
      fs::create_directory(root + name);
    } else if (entry.is_symlink() || entry.is_directory() || entry.is_regular_file()) {
      show_path(source, root, name);
    }
  }
}

}  // namespace

void write_new_file(const std::string& at, const std::string& text) {
  const sys::UniqueFd fd(sys::check(::open(at.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644), "create " + at));
  if (::write(fd.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) sys::throw_errno("write " + at);
}

void show_path(const std::string& source, const std::string& root, const std::string& path) {
  const fs::path from = source + path;
  const fs::path to = root + path;
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
    write_new_file(to, "");
  }
  sys::bind(from, to, true);
}

void show_tree(const std::string& source, const std::string& root, const TreeRules& rules) { show_below(source, root, "", rules); }

}  // namespace rookery::jail

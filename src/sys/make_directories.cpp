// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "sys/beneath.h"

namespace rookery::sys {

namespace {

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY;

// `path` cut at its last slash: {"a/b", "c"} of "a/b/c", {".", "c"} of "c".
std::pair<std::string, std::string> split_last(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {".", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

bool move_into_place(int parent, const std::string& from, const std::string& to) noexcept {
  if (::renameat2(parent, from.c_str(), parent, to.c_str(), RENAME_NOREPLACE) == 0) return true;
  // A file system without the flag: a directory then replaces an empty directory at most.
  return errno == EINVAL && ::renameat(parent, from.c_str(), parent, to.c_str()) == 0;
}

// A new directory `name` in `parent`, whole before it has that name. Empty with EEXIST when there is one already.
UniqueFd make_directory(int parent, const std::string& name, const Owner& owner) {
  const std::string hidden = random_name(".rookery-");
  if (::mkdirat(parent, hidden.c_str(), 0755) != 0) return {};
  UniqueFd made = open_beneath_no_links(parent, hidden, kOpenDirectory);
  // The mode first: afterwards it is the owner's to change. Both are needed whatever the umask is.
  if (made && ::fchmod(made.get(), 0755) == 0 && give_to(made.get(), owner) && move_into_place(parent, hidden, name)) {
    return made;
  }
  const int error = errno;
  ::unlinkat(parent, hidden.c_str(), AT_REMOVEDIR);
  errno = error;
  return {};
}

}  // namespace

MadeDirectories make_directories(int root, const std::string& path, const Owner& owner) {
  // Most parents exist, so look for the longest existing part from the end.
  std::string existing = path;
  std::vector<std::string> missing;  // innermost first
  MadeDirectories made;
  while (true) {
    made.base = open_beneath(root, existing, kOpenDirectory);
    if (made.base) break;
    if (errno != ENOENT || existing == ".") return made;
    auto [parent, name] = split_last(existing);
    if (name == "..") return made;  // ENOENT
    if (missing.size() == kMaxNewDirectories) {
      errno = ENAMETOOLONG;
      return made;
    }
    missing.push_back(std::move(name));
    existing = std::move(parent);
  }

  UniqueFd current(::fcntl(made.base.get(), F_DUPFD_CLOEXEC, 0));
  bool all_ours = true;
  while (current && !missing.empty()) {
    const std::string name = std::move(missing.back());
    missing.pop_back();
    UniqueFd next = make_directory(current.get(), name, owner);
    if (next) {
      if (all_ours) made.names.push_back(name);
    } else if (errno == EEXIST) {
      // Somebody else was faster, or it is a dangling symlink. What follows lies in a directory that is not ours to remove.
      next = open_beneath(current.get(), name, kOpenDirectory);
      all_ours = false;
    }
    current = std::move(next);
  }
  if (!current) {
    const int error = errno;
    remove_directories(made);
    made.names.clear();
    errno = error;
  }
  made.directory = std::move(current);
  return made;
}

void remove_directories(const MadeDirectories& made) noexcept {
  std::string path;
  for (const std::string& name : made.names) path += (path.empty() ? "" : "/") + name;
  for (std::size_t left = made.names.size(); left > 0; --left) {
    const auto [parent, name] = split_last(path);
    const UniqueFd directory = open_beneath_no_links(made.base.get(), parent, O_PATH | O_DIRECTORY);
    if (!directory || ::unlinkat(directory.get(), name.c_str(), AT_REMOVEDIR) != 0) return;
    path = parent;
  }
}

}  // namespace rookery::sys

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// How files get into an image's root: a skeleton on a tmpfs, in which the source's directories and files are bound, so that
// mount points can be made that the source does not have. All of it throws std::system_error or std::runtime_error.
namespace rookery::jail {

// Makes a file that must not exist yet.
void write_new_file(const std::string& at, const std::string& text);

// One path of `source` ("" is the host's root), at the same path below `root`: a link is made again, a directory or file
// is bound. Nothing when it is absent or visible already.
void show_path(const std::string& source, const std::string& root, const std::string& path);

// What of a root file system is not simply shown. All are absolute paths inside it.
struct TreeRules {
  std::vector<std::string> own;     // made by the jail itself; directories on the way to them are made anew
  std::vector<std::string> hidden;  // left out
  std::vector<std::string> copied;  // directories whose readable content is copied: a mount a file would cost every jail time
};
inline constexpr std::uint64_t kMaxCopied = 32u << 20;  // bytes of one copied directory

// The whole tree at `source`, a canonical path, as `rules` say.
void show_tree(const std::string& source, const std::string& root, const TreeRules& rules);

}  // namespace rookery::jail

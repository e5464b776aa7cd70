// SPDX-License-Identifier: Apache-2.0
#include "server/editor/list_tree.h"

#include <fcntl.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "server/files/directory.h"
#include "sys/unique_fd.h"

namespace rookery::server {

namespace {

struct Listing {
  DirectoryBuffer buffer;
  std::string text;
  std::size_t left = 0;
  bool cut = false;
};

void list_level(Listing& listing, int directory, const std::string& prefix) {
  std::vector<std::pair<std::string, bool>> entries;  // name, is a directory
  for_each_entry(directory, listing.buffer, [&](std::string_view name, unsigned char type) {
    listing.cut = listing.cut || listing.left == 0;
    if (listing.left == 0) return false;
    --listing.left;
    entries.emplace_back(name, type == DT_DIR);
    return true;
  });
  std::ranges::sort(entries);
  for (const auto& [name, is_directory] : entries) {
    listing.text.append(prefix).append(name).append("\n");
    if (!prefix.empty() || !is_directory) continue;
    const sys::UniqueFd child(::openat(directory, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (child) list_level(listing, child.get(), name + "/");
  }
}

}  // namespace

std::string list_two_levels(int directory, std::size_t max_entries) {
  const auto listing = std::make_unique_for_overwrite<Listing>();
  listing->left = max_entries;
  list_level(*listing, directory, "");
  if (listing->cut) listing->text += "... (more than " + std::to_string(max_entries) + " entries)\n";
  if (listing->text.empty()) return "\n";
  return std::move(listing->text);
}

}  // namespace rookery::server

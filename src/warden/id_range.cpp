// SPDX-License-Identifier: Apache-2.0
#include "warden/id_range.h"

#include <dirent.h>
#include <fcntl.h>
#include <pwd.h>
#include <sys/stat.h>

#include <algorithm>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <vector>

#include "sys/file.h"

namespace rookery::warden {

namespace {

constexpr std::uint32_t kWanted = 65536;
constexpr std::uint32_t kLeast = (kLeastRun - 2000) / 2;
// Above what systemd-nspawn, Docker's and LXC's usual subordinate ranges and accounts use; below 2^31.
constexpr std::uint64_t kRangesStart = 0x70000000;
constexpr std::uint32_t kRanges = 0x0fff;

struct MapEntry {
  std::uint64_t inside = 0;
  std::uint64_t count = 0;
};

std::vector<MapEntry> own_map(const char* file) {
  std::vector<MapEntry> entries;
  std::istringstream lines(sys::read_file(file));
  std::uint64_t inside, outside, count;
  while (lines >> inside >> outside >> count) entries.push_back({inside, count});
  return entries;
}

std::vector<uid_t> uids_of_processes() {
  std::vector<uid_t> uids;
  DIR* directory = ::opendir("/proc");
  if (directory == nullptr) return uids;
  while (const dirent* entry = ::readdir(directory)) {
    struct stat info{};
    if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
        ::fstatat(::dirfd(directory), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0) {
      uids.push_back(info.st_uid);
    }
  }
  ::closedir(directory);
  return uids;
}

}  // namespace

IdRange choose_id_range(const std::string& seed) {
  const std::vector<MapEntry> uid_map = own_map("/proc/self/uid_map");
  const std::vector<MapEntry> gid_map = own_map("/proc/self/gid_map");
  const auto covers = [](const std::vector<MapEntry>& map, std::uint64_t first, std::uint64_t count) {
    return std::any_of(map.begin(), map.end(), [&](const MapEntry& entry) {
      return first >= entry.inside && first + count <= entry.inside + entry.count;
    });
  };
  const std::vector<uid_t> used = uids_of_processes();
  const auto free = [&](std::uint64_t first) {
    return std::none_of(used.begin(), used.end(), [&](uid_t uid) { return uid >= first && uid < first + kWanted; }) &&
           ::getpwuid(static_cast<uid_t>(first)) == nullptr;
  };
  const std::uint64_t start = std::hash<std::string>{}(seed) % kRanges;
  for (std::uint32_t attempt = 0; attempt < kRanges; ++attempt) {
    const std::uint64_t first = kRangesStart + (start + attempt) % kRanges * kWanted;
    if (!covers(uid_map, first, kWanted) || !covers(gid_map, first, kWanted)) break;
    if (free(first)) return {static_cast<uid_t>(first), kWanted};
  }
  // Inside another user namespace (userns-remap, rootless Docker) ids are few: take the upper half of the largest run,
  // but not its last thousand, where nobody and nogroup are.
  MapEntry largest;
  for (const MapEntry& entry : uid_map) {
    if (entry.count > largest.count) largest = entry;
  }
  const std::uint64_t first = largest.inside + largest.count / 2;
  const std::uint64_t count = largest.count > 4000 ? std::min<std::uint64_t>(largest.count / 2 - 1000, kWanted) : 0;
  if (count < kLeast || !covers(gid_map, first, count)) {
    throw std::runtime_error("too few user ids in this user namespace: rookery needs " + std::to_string(kLeastRun) +
                             " in one run (see /proc/self/uid_map; give the container a larger subuid range)");
  }
  return {static_cast<uid_t>(first), static_cast<std::uint32_t>(count)};
}

}  // namespace rookery::warden

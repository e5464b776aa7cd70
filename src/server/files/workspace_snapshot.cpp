// SPDX-License-Identifier: Apache-2.0
#include "server/files/workspace_snapshot.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <memory>

#include "server/files/directory.h"
#include "sys/unique_fd.h"
#include "util/utf8.h"

namespace rookery::server {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::size_t kMaxOwnWrites = 4096;
constexpr std::size_t kMaxHashedFile = std::size_t{64} << 10;
constexpr std::size_t kMaxHashedTotal = std::size_t{1} << 20;
// How far a file's time may be ahead of that clock: a tick is at most 10 ms (HZ=100), and fine file times are
// ahead by up to one. What is farther ahead was set by hand.
constexpr std::int64_t kMostAhead = 20'000'000;

constexpr int kOpenDirectory = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;

std::int64_t nanoseconds(const timespec& time) noexcept { return time.tv_sec * kSecond + time.tv_nsec; }

// The clock most file systems stamp files with: it stands still within a tick.
std::int64_t file_clock() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return nanoseconds(now);
}

// Hash of the first kMaxHashedFile bytes. Guards against misses, not against somebody who wants to hide a file of his own.
std::size_t hash_content(int directory, const char* name) {
  const sys::UniqueFd file(::openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | O_NOCTTY));
  const auto content = std::make_unique_for_overwrite<char[]>(kMaxHashedFile);
  const ssize_t size = file ? ::read(file.get(), content.get(), kMaxHashedFile) : 0;
  return std::hash<std::string_view>{}({content.get(), size > 0 ? static_cast<std::size_t>(size) : 0});
}

bool is_left_out(std::string_view name) noexcept {
  return name.front() == '.' || name == "__pycache__" || name.ends_with(".pyc");
}

}  // namespace

// One walk's own state. The buffer is shared by all levels: a directory is read to its end before its
// subdirectories are entered.
struct WorkspaceSnapshot::Walk {
  DirectoryBuffer buffer;
  std::string path;  // of the directory being read, with a trailing slash; "" for the root
  std::vector<std::string> produced;
  std::size_t entries = 0;
  std::size_t hashed = 0;
  bool truncated = false;
};

FileVersion version_of(const struct stat& status) noexcept {
  return {status.st_ino, static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim)};
}

void WorkspaceSnapshot::record(const FileVersion& own) {
  const std::lock_guard lock(mutex_);
  if (own_writes_.size() == kMaxOwnWrites) own_writes_.erase(own_writes_.begin());
  own_writes_.push_back({own, walks_});
}

WorkspaceSnapshot::Produced WorkspaceSnapshot::update(int workspace, std::size_t most) {
  const std::lock_guard lock(mutex_);
  ++walks_;
  const auto walk = std::make_unique_for_overwrite<Walk>();
  ::lseek(workspace, 0, SEEK_SET);  // read to its end by the last walk
  walk_directory(*walk, workspace, 1);
  forget_unseen(walk->truncated);

  Produced result;
  result.total = walk->produced.size();
  std::ranges::sort(walk->produced);
  if (walk->produced.size() > most) walk->produced.resize(most);
  result.files.reserve(walk->produced.size());
  for (const std::string& path : walk->produced) {
    const std::string name = util::to_valid_utf8(path);
    result.files.push_back({name, name});
  }
  return result;
}

void WorkspaceSnapshot::walk_directory(Walk& walk, int directory, int depth) {
  std::vector<std::string> subdirectories;
  const bool read = for_each_entry(directory, walk.buffer, [&](std::string_view name, unsigned char type) {
    if (++walk.entries > kMaxWalked) {
      walk.truncated = true;
      return false;
    }
    if (is_left_out(name)) return true;
    if (type == DT_REG || type == DT_UNKNOWN) see_file(walk, directory, name.data());
    if (type == DT_DIR) subdirectories.emplace_back(name);
    return true;
  });
  if (!read) walk.truncated = true;
  for (const std::string& name : subdirectories) {
    if (depth == kMaxDepth || walk.entries > kMaxWalked) {
      walk.truncated = walk.truncated || walk.entries > kMaxWalked;
      return;
    }
    const sys::UniqueFd child(::openat(directory, name.c_str(), kOpenDirectory));
    if (!child) continue;
    const std::size_t length = walk.path.size();
    walk.path.append(name).append("/");
    walk_directory(walk, child.get(), depth + 1);
    walk.path.resize(length);
  }
}

void WorkspaceSnapshot::see_file(Walk& walk, int directory, const char* name) {
  struct stat status {};
  if (::fstatat(directory, name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode)) return;
  const FileVersion version = version_of(status);
  const std::size_t length = walk.path.size();
  walk.path.append(name);
  const auto [entry, is_new] = known_.try_emplace(walk.path);
  Known& known = entry->second;

  bool changed = is_new || known.version != version;
  // A write in the same clock tick as the last one leaves no trace in the times, and calls are shorter than ticks.
  const std::int64_t ahead = version.modified_ns - file_clock();
  const bool may_change_unseen = ahead >= 0 && ahead <= kMostAhead;
  if ((may_change_unseen || (!changed && known.content)) && version.size <= kMaxHashedFile &&
      walk.hashed + version.size <= kMaxHashedTotal) {
    walk.hashed += version.size;
    const std::size_t content = hash_content(directory, name);
    changed = changed || (known.content && *known.content != content);
    known.content = content;
  }
  if (!may_change_unseen) known.content.reset();
  known.version = version;
  known.seen = walks_;
  if (changed && !take_own_write(version)) walk.produced.push_back(walk.path);
  walk.path.resize(length);
}

bool WorkspaceSnapshot::take_own_write(const FileVersion& version) {
  const auto own = std::ranges::find(own_writes_, version, &OwnWrite::version);
  if (own == own_writes_.end()) return false;
  own_writes_.erase(own);
  return true;
}

void WorkspaceSnapshot::forget_unseen(bool truncated) {
  // A cut walk did not look everywhere: what it missed is not gone. It is remembered while that is bounded.
  if (!truncated || known_.size() > 2 * kMaxWalked) {
    std::erase_if(known_, [this](const auto& entry) { return entry.second.seen != walks_; });
  }
  // Written before the last walk and not found by two: hidden, replaced or removed since.
  std::erase_if(own_writes_, [this](const OwnWrite& own) { return own.since + 2 <= walks_; });
}

}  // namespace rookery::server

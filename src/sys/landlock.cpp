// SPDX-License-Identifier: Apache-2.0
#include "sys/landlock.h"

#include <fcntl.h>
#include <linux/landlock.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "sys/error.h"

namespace rookery::sys {

namespace {

// Newer than Debian 12's headers; values from the kernel's include/uapi/linux/landlock.h.
constexpr std::uint64_t kRefer = 1ULL << 13;     // ABI 2
constexpr std::uint64_t kTruncate = 1ULL << 14;  // ABI 3
constexpr std::uint64_t kIoctlDev = 1ULL << 15;  // ABI 5

constexpr std::uint64_t kRead = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR;

// What a rule for something that is no directory may grant.
constexpr std::uint64_t kFileRights = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDev;

std::uint64_t all_rights(int abi) {
  std::uint64_t rights = (1ULL << 13) - 1;
  if (abi >= 2) rights |= kRefer;
  if (abi >= 3) rights |= kTruncate;
  if (abi >= 5) rights |= kIoctlDev;
  return rights;
}

void allow(int ruleset, const std::vector<std::string>& paths, std::uint64_t rights) {
  for (const std::string& path : paths) {
    const UniqueFd place(::open(path.c_str(), O_PATH | O_CLOEXEC));
    if (!place) {
      if (errno == ENOENT) continue;
      throw_errno("open " + path + " for Landlock");
    }
    struct stat info{};
    check(::fstat(place.get(), &info), "stat " + path);
    landlock_path_beneath_attr rule{};
    rule.allowed_access = S_ISDIR(info.st_mode) ? rights : rights & kFileRights;
    rule.parent_fd = place.get();
    check(static_cast<int>(::syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &rule, 0)),
          "Landlock rule for " + path);
  }
}

}  // namespace

int landlock_abi() noexcept {
  const long abi = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  return abi > 0 ? static_cast<int>(abi) : 0;
}

void landlock_confine(const LandlockPaths& paths) {
  const int abi = landlock_abi();
  if (abi == 0) return;
  // Signals and abstract sockets are not scoped: processes of one jail confine themselves one by one and would no
  // longer reach each other; the PID and network namespaces bound both.
  landlock_ruleset_attr attributes{};
  attributes.handled_access_fs = all_rights(abi);
  const UniqueFd ruleset(
      check(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)), "create a Landlock ruleset"));
  allow(ruleset.get(), paths.readable, kRead);
  allow(ruleset.get(), paths.devices,
        (kRead | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate | kIoctlDev) & attributes.handled_access_fs);
  allow(ruleset.get(), paths.writable, attributes.handled_access_fs);
  check(static_cast<int>(::syscall(SYS_landlock_restrict_self, ruleset.get(), 0)), "enter the Landlock domain");
}

}  // namespace rookery::sys

// SPDX-License-Identifier: Apache-2.0
#include "sys/credentials.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/securebits.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>

#include "sys/error.h"
#include "sys/unique_fd.h"

namespace rookery::sys {

namespace {

using Capabilities = std::unique_ptr<std::remove_pointer_t<cap_t>, decltype(&cap_free)>;

constexpr unsigned kNoFixup = SECBIT_NO_SETUID_FIXUP | SECBIT_NOROOT;
constexpr unsigned kLocked = kNoFixup | SECBIT_NO_SETUID_FIXUP_LOCKED | SECBIT_NOROOT_LOCKED |
                             SECBIT_NO_CAP_AMBIENT_RAISE | SECBIT_NO_CAP_AMBIENT_RAISE_LOCKED;

Capabilities make(cap_t capabilities) {
  if (capabilities == nullptr) throw_errno("allocate capabilities");
  return {capabilities, &cap_free};
}

void must_fail(bool succeeded, const char* what) {
  if (succeeded) throw std::logic_error(std::string("a dropped privilege is still there: ") + what);
}

void set_capabilities(std::span<const cap_value_t> kept) {
  const Capabilities wanted = make(::cap_init());
  if (!kept.empty()) {
    const auto count = static_cast<int>(kept.size());
    check(::cap_set_flag(wanted.get(), CAP_PERMITTED, count, kept.data(), CAP_SET), "choose capabilities");
    check(::cap_set_flag(wanted.get(), CAP_EFFECTIVE, count, kept.data(), CAP_SET), "choose capabilities");
  }
  check(::cap_set_proc(wanted.get()), "drop the capabilities");
}

}  // namespace

std::string lacking_capabilities(std::span<const cap_value_t> wanted) {
  const Capabilities own = make(::cap_get_proc());
  std::string lacking;
  for (const cap_value_t value : wanted) {
    cap_flag_value_t has = CAP_CLEAR;
    check(::cap_get_flag(own.get(), value, CAP_EFFECTIVE, &has), "read a capability");
    if (has == CAP_SET) continue;
    const std::unique_ptr<char, decltype(&cap_free)> name(::cap_to_name(value), &::cap_free);
    std::string text = name ? name.get() : std::to_string(value);
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
    lacking += (lacking.empty() ? "" : " ") + text;
  }
  return lacking;
}

bool groups_are_fixed() noexcept {
  const UniqueFd file(::open("/proc/self/setgroups", O_RDONLY | O_CLOEXEC));
  char text[5] = {};
  return file && ::read(file.get(), text, 4) == 4 && std::strcmp(text, "deny") == 0;
}

void empty_groups() {
  if (::setgroups(0, nullptr) == 0) return;
  const int error = errno;
  if (error == EPERM && groups_are_fixed()) return;
  errno = error;
  throw_errno("empty the supplementary groups");
}

void take_ids(uid_t uid, gid_t gid) {
  check(::prctl(PR_SET_SECUREBITS, kNoFixup), "set the securebits");
  empty_groups();
  check(::setresgid(gid, gid, gid), "setresgid");
  check(::setresuid(uid, uid, uid), "setresuid");
}

void limit_capabilities(std::span<const cap_value_t> kept) {
  for (cap_value_t value = 0; ::cap_get_bound(value) >= 0; ++value) {
    if (std::find(kept.begin(), kept.end(), value) == kept.end()) check(::cap_drop_bound(value), "shrink the bounding set");
  }
  check(::cap_reset_ambient(), "empty the ambient set");
  set_capabilities(kept);
}

void keep_only_capabilities(std::span<const cap_value_t> kept) {
  for (cap_value_t value = 0; ::cap_get_bound(value) >= 0; ++value) check(::cap_drop_bound(value), "shrink the bounding set");
  check(::cap_reset_ambient(), "empty the ambient set");
  check(::prctl(PR_SET_SECUREBITS, kLocked), "lock the securebits");
  set_capabilities(kept);
}

void set_no_new_privileges() { check(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs"); }

void verify_dropped(std::span<const cap_value_t> kept) {
  const uid_t uid = ::getuid();
  must_fail(uid != 0 && ::setresuid(0, 0, 0) == 0, "becoming uid 0");
  must_fail(::setgroups(0, nullptr) == 0, "setgroups");
  must_fail(::mount("none", "/", nullptr, MS_REMOUNT | MS_BIND, nullptr) == 0, "mount");
  must_fail(::chroot("/") == 0, "chroot");
  must_fail(::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1, "gaining privileges by exec");
  const Capabilities now = make(::cap_get_proc());
  for (cap_value_t value = 0; value <= CAP_LAST_CAP; ++value) {
    if (std::find(kept.begin(), kept.end(), value) != kept.end()) continue;
    cap_flag_value_t held = CAP_CLEAR;
    // A kernel older than these headers does not know the highest ones.
    must_fail(::cap_get_flag(now.get(), value, CAP_PERMITTED, &held) == 0 && held == CAP_SET, "a capability");
    must_fail(::cap_get_bound(value) == 1, "a capability in the bounding set");
  }
  const Capabilities raised = make(::cap_dup(now.get()));
  const cap_value_t admin = CAP_SYS_ADMIN;
  check(::cap_set_flag(raised.get(), CAP_PERMITTED, 1, &admin, CAP_SET), "choose CAP_SYS_ADMIN");
  must_fail(::cap_set_proc(raised.get()) == 0, "raising CAP_SYS_ADMIN");
}

}  // namespace rookery::sys

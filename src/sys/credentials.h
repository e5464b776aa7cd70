// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/capability.h>
#include <sys/types.h>

#include <span>
#include <string>

namespace rookery::sys {

// Those of `wanted` (CAP_*) that this process does not have, as words like "CAP_CHOWN", separated by spaces.
std::string lacking_capabilities(std::span<const cap_value_t> wanted);

// Whether the kernel forbids changes of the supplementary groups in this user namespace: it does in one that an ordinary
// user made without newgidmap(1), and in all below it (user_namespaces(7), "The /proc/pid/setgroups file").
bool groups_are_fixed() noexcept;

// No supplementary groups from here on, unless they are fixed. Throws std::system_error.
void empty_groups();

// Takes the given uid and gid for good: real, effective, saved and file system ids, no supplementary groups (empty_groups()).
// The capabilities of the moment survive it (SECBIT_NO_SETUID_FIXUP). Throws std::system_error.
void take_ids(uid_t uid, gid_t gid);

// Keeps exactly `kept` (CAP_*) as permitted and effective; empties the bounding, ambient and inheritable sets and
// locks the securebits, so that no exec and no uid brings one back. Throws std::system_error.
void keep_only_capabilities(std::span<const cap_value_t> kept);

// Leaves uid 0 with at most `kept`, also after the exec of another program. Throws std::system_error.
void limit_capabilities(std::span<const cap_value_t> kept);

// No exec can gain privileges from here on (prctl(2) PR_SET_NO_NEW_PRIVS). Throws std::system_error.
void set_no_new_privileges();

// Tries to undo what was dropped: become uid 0, raise a capability, mount, change the root. Throws
// std::logic_error that names the first attempt that succeeded. `kept` as above.
void verify_dropped(std::span<const cap_value_t> kept);

}  // namespace rookery::sys

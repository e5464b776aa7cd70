// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::sys {

// A process of a user namespace may mount a proc only where it sees one of which nothing is masked (the kernel's
// mnt_already_visible()), and each jail mounts its own. Tries it in a child. 0 or the errno.
int try_fresh_proc();

// Mounts a whole proc over /proc, in a mount namespace of this process's own. Needs CAP_SYS_ADMIN. Throws std::system_error.
void unmask_proc();

}  // namespace rookery::sys

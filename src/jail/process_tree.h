// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace rookery::jail {

// The processes of the jail as its init sees them in /proc. A hostile tree makes new ones while it is walked, so
// ending it means looking again until nothing is left.

// Whether pid 1 has a living child besides these two (-1: none): orphans come to it, so a program that has ended and left processes
// running left at least one of them here.
bool any_child_besides(pid_t spared, pid_t other);

// Ends everything except pid 1, `spared` and, with `spare_descendants`, the descendants of `spared`. False when
// processes were still there after many rounds.
bool end_all_besides(pid_t spared, bool spare_descendants);

// Ends everything except pid 1, and waits for it.
void end_everything();

}  // namespace rookery::jail

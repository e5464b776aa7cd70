// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

namespace rookery::jail {

// The processes of the jail as its init sees them in /proc. A hostile tree makes new ones while it is walked, so
// ending it means looking again until nothing is left.

// Whether there is a living process besides pid 1 and `spared`.
bool any_process_besides(pid_t spared);

// Ends everything except pid 1, `spared` and, with `spare_descendants`, the descendants of `spared`. False when
// processes were still there after many rounds.
bool end_all_besides(pid_t spared, bool spare_descendants);

// Ends everything except pid 1, and waits for it.
void end_everything();

}  // namespace rookery::jail

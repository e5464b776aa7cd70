// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::sys {

// Gives every signal its default disposition and blocks none, whatever the process has inherited: `nohup`, a shell's background jobs and
// service managers leave signals ignored, and that lasts beyond exec (signal(7)). Throws std::system_error.
void reset_signals();

}  // namespace rookery::sys

// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::cli {

// The command's side of a run, in a process of its own that keeps the user's ids, but no capability: takes the files that
// the runner hands out, writes them below the directory `out` (-1: there is none, and they are dropped), and
// returns the exit status that the runner tells, or kRunFailed. What comes from the runner is not trusted: a path
// cannot leave `out`, and only regular files are read.
int collect(int runner, int out) noexcept;

}  // namespace rookery::cli

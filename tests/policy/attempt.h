// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "policy_file.h"
#include "sys/seccomp.h"

namespace rookery::policy {

// How one system call ended in a child of its own.
struct Outcome {
  enum class Kind { kSucceeded, kFailed, kEnded, kKilledByFilter, kSignalled } kind = Kind::kEnded;
  int error = 0;  // of kFailed
  bool operator==(const Outcome&) const = default;
};

// Makes the call in a forked child that is uid 65534 (when the test is root), under `filter` unless that is null. A call that waits
// is interrupted. Throws std::system_error when there is no child.
Outcome attempt(const sys::SeccompFilter* filter, int number, const Arguments& arguments);

}  // namespace rookery::policy

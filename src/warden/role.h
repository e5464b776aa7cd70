// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>

namespace rookery::warden {

// The rest of a cloned child's life before it is another role: gives it these descriptors as 3, 4, ... and no other but the
// standard ones, and executes rookery's own program with `title` as its name. Ends the child with status 70 when it cannot.
[[noreturn]] void become_role(const char* title, std::initializer_list<int> descriptors) noexcept;

}  // namespace rookery::warden

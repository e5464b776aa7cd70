// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sys/unique_fd.h"

namespace rookery::warden {

// A datagram socket connected to where systemd, or who plays it, wants to be told of the service's state (sd_notify(3),
// "READY=1" and the like, one write each). Empty when NOTIFY_SOCKET names none; the variable is taken out of the
// environment. Throws std::runtime_error when what it names cannot be used.
sys::UniqueFd connect_notify_socket();

}  // namespace rookery::warden

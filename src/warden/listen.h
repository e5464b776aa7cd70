// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "sys/unique_fd.h"

namespace rookery::warden {

// A listening TCP socket, non-blocking, close-on-exec. `host` is a numeric address or a name, IPv6 in brackets or not.
// Throws std::runtime_error that names the address and the reason.
sys::UniqueFd listen_on(const std::string& host, std::uint16_t port);

}  // namespace rookery::warden

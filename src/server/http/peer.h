// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::server::http {

// Whether the other end of a connection is on this machine: a unix socket or an address of loopback (127.0.0.0/8, ::1,
// ::ffff:127.0.0.0/104). A proxy on this machine makes all of its clients look so. False when the peer is not known.
[[nodiscard]] bool peer_is_local(int client_fd) noexcept;

}  // namespace rookery::server::http

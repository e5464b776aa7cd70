// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <variant>

#include "server/http/exchange.h"
#include "server/http/http_server.h"
#include "server/http/request_head.h"
#include "server/http/route.h"

namespace rookery::server::http {

// Bytes of body that a route takes.
[[nodiscard]] std::uint64_t body_limit(Route route, const Limits& limits) noexcept;

// Everything that is decided before a byte of the body is read: who asks, for what, with what.
[[nodiscard]] std::variant<RouteMatch, HttpError> admit(const RequestHead& head, const Hooks& hooks,
                                                        const Limits& limits);

}  // namespace rookery::server::http

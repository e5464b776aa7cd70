// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "server/http/exchange.h"

// Answers of the transport itself, for requests that never reach cpp-httplib: a head that is not valid,
// no thread for it, not allowed, no such route.
namespace rookery::server::http {

[[nodiscard]] std::string_view reason_phrase(int status) noexcept;

// The bytes of a whole response with a JSON body. `request_id` is sent back where there is one.
[[nodiscard]] std::string fixed_response(const HttpError& error, bool close, bool head_only = false, std::string_view request_id = {});

}  // namespace rookery::server::http

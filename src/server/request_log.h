// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "server/http/http_server.h"

namespace rookery::server {

// The log's line about one finished request, and a warning where it was refused for what it tried.
void log_request(const http::AccessRecord& record);

// What a refused request tried, as a short name: "unauthenticated", "cross_site_request", "unknown_host", "path_outside";
// "" for every other request.
[[nodiscard]] std::string_view policy_violation(const http::AccessRecord& record) noexcept;

}  // namespace rookery::server

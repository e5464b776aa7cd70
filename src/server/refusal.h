// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <utility>

#include "contract/json.h"
#include "server/http/exchange.h"

namespace rookery::server {

// Ends a request with {"detail": text}. `detail` may hold any bytes, those of a client's path for one: what is not UTF-8
// becomes U+FFFD.
[[nodiscard]] inline http::HttpError refusal(int status, std::string_view detail, http::Fields fields = {}) {
  return http::HttpError(status, contract::error_json(detail), std::move(fields));
}

}  // namespace rookery::server

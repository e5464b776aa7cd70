// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "contract/json.h"
#include "server/http/exchange.h"

namespace rookery::server {

// Ends a request with {"detail": text}. `detail` may hold any bytes, those of a client's path for one: what is not UTF-8
// becomes U+FFFD.
[[nodiscard]] inline http::HttpError refusal(int status, std::string_view detail, http::Fields fields = {}) {
  return http::HttpError(status, contract::error_json(detail), std::move(fields));
}

inline constexpr std::size_t kMaxJsonBody = 16u << 20;

// What a body says, or the request's end with 422 and the fields at fault.
template <typename T>
T valid(contract::Parsed<T> parsed) {
  if (auto* errors = std::get_if<std::vector<contract::FieldError>>(&parsed)) {
    throw http::HttpError(422, contract::error_json(*errors));
  }
  return std::get<T>(std::move(parsed));
}

}  // namespace rookery::server

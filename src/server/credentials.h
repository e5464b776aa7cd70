// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

// What an Authorization field holds. The scheme's case does not matter (RFC 9110 11.1).
namespace rookery::server {

// RFC 6750 2.1: "Bearer TOKEN". Empty for anything else.
[[nodiscard]] std::string_view bearer_token(std::string_view authorization) noexcept;
// RFC 7617 2: "Basic" and base64 of NAME:PASSWORD, whatever the name. nullopt for anything else.
[[nodiscard]] std::optional<std::string> basic_password(std::string_view authorization);

}  // namespace rookery::server

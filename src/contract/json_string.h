// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rookery::contract {

// Appends `bytes` to `out` as a JSON string with its quotes. Always valid UTF-8 JSON: what is not UTF-8 becomes U+FFFD.
// Made for outputs of a megabyte: what stands for itself passes many bytes at a time.
void append_json_string(std::string& out, std::string_view bytes);

// Standard base64 with padding (RFC 4648), for names that are not UTF-8.
[[nodiscard]] std::string base64(std::string_view bytes);

}  // namespace rookery::contract

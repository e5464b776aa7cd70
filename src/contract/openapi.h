// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rookery::contract {

// The OpenAPI 3.1 description of what this server serves (src/contract/openapi.json).
std::string openapi_json();

}  // namespace rookery::contract

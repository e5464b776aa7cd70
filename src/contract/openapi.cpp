// SPDX-License-Identifier: Apache-2.0
#include "contract/openapi.h"

#include "util/embedded.h"

namespace rookery::contract {

std::string openapi_json() { return std::string(util::embedded_file("openapi.json")); }

}  // namespace rookery::contract

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "server/http/multipart.h"

namespace rookery::server::http {

// The header section of one part (RFC 7578 section 4), lines with CRLF, without the empty line. "" when
// it was taken into `header`, else what is wrong with it.
[[nodiscard]] std::string_view parse_part_header(std::string_view text, PartHeader& header);

}  // namespace rookery::server::http

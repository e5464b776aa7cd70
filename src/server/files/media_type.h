// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace rookery::server {

// The media type of a file name's extension (any case), "" when it is not known.
[[nodiscard]] std::string_view guess_media_type(std::string_view name) noexcept;

// As above for the Content-Type of a download: what a browser might run (html, svg, xml, scripts, …) and what is not
// known becomes application/octet-stream.
[[nodiscard]] std::string_view download_media_type(std::string_view name) noexcept;

// `attachment; filename="…"; filename*=UTF-8''…` (RFC 6266, RFC 8187) for the last component of `path`. Any bytes
// are safe: the result is printable ASCII.
[[nodiscard]] std::string content_disposition(std::string_view path);

}  // namespace rookery::server

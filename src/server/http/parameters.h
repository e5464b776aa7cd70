// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rookery::server::http {

// A field value with parameters, as in Content-Type and Content-Disposition (RFC 9110 5.6.6):
//   value; name=token; name="quoted"
struct ParameterList {
  std::string value;                                        // lower case
  std::vector<std::pair<std::string, std::string>> entries;  // names in lower case, each once

  [[nodiscard]] const std::string* find(std::string_view name) const noexcept;
};

// nullopt for anything else, and for a name that stands twice. In a quoted string a backslash escapes '"'
// and '\' only: browsers send file names like C:\x as they are.
[[nodiscard]] std::optional<ParameterList> parse_parameters(std::string_view text);

}  // namespace rookery::server::http

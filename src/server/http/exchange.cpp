// SPDX-License-Identifier: Apache-2.0
#include "server/http/exchange.h"

#include "server/http/syntax.h"

namespace rookery::server::http {

std::string detail_json(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string json = "{\"detail\":\"";
  for (const char c : text) {
    if (is_control(c)) {
      json += "\\u00";
      json += kHex[static_cast<unsigned char>(c) >> 4];
      json += kHex[static_cast<unsigned char>(c) & 15];
      continue;
    }
    if (c == '"' || c == '\\') json += '\\';
    json += c;
  }
  json += "\"}";
  return json;
}

}  // namespace rookery::server::http

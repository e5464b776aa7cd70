// SPDX-License-Identifier: Apache-2.0
#include "server/http/fixed_response.h"

namespace rookery::server::http {

std::string_view reason_phrase(int status) noexcept {
  switch (status) {
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 408: return "Request Timeout";
    case 413: return "Payload Too Large";
    case 414: return "URI Too Long";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 421: return "Misdirected Request";
    case 422: return "Unprocessable Entity";
    case 431: return "Request Header Fields Too Large";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 505: return "HTTP Version Not Supported";
    default: return "Error";
  }
}

std::string fixed_response(const HttpError& error, bool close, bool head_only, std::string_view request_id) {
  std::string text = "HTTP/1.1 ";
  text += std::to_string(error.status());
  text += ' ';
  text += reason_phrase(error.status());
  text += "\r\nContent-Type: application/json\r\nX-Content-Type-Options: nosniff\r\nContent-Length: ";
  text += std::to_string(error.body().size());
  text += "\r\n";
  for (const auto& [name, value] : error.fields()) {
    text += name;
    text += ": ";
    text += value;
    text += "\r\n";
  }
  if (!request_id.empty()) text.append("X-Request-Id: ").append(request_id).append("\r\n");
  if (close) text += "Connection: close\r\n";
  text += "\r\n";
  if (!head_only) text += error.body();
  return text;
}

}  // namespace rookery::server::http

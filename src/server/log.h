// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "util/settings.h"

// The server's log, on stderr (spdlog). Never code, output or file contents; text from outside is escaped.
namespace rookery::server {

void start_log(const util::Settings& settings);

struct RequestLine {
  std::string_view method;
  std::string_view route;    // the route's name, never the client's path
  std::string_view session;  // shortened
  int status = 0;
  std::uint64_t duration_us = 0;
};
void log_request(const RequestLine& line);
// A life-cycle event of a session.
void log_event(std::string_view event, std::string_view session);
void log_warning(std::string_view text);
void log_error(std::string_view text);

}  // namespace rookery::server

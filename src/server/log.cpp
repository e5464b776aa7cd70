// SPDX-License-Identifier: Apache-2.0
#include "server/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <cstdio>

namespace rookery::server {

namespace {

bool as_json = false;
std::string environment;

// Printable ASCII stays; the rest, quotes and backslashes become \xNN or JSON's \u00NN: one line a record, always.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\') {
      result += c;
      continue;
    }
    char code[8];
    std::snprintf(code, sizeof code, as_json ? "\\u%04x" : "\\x%02x", byte);
    result += code;
  }
  return result;
}

void write(spdlog::level::level_enum level, std::string_view message, const std::string& json_fields, const std::string& text_fields) {
  if (!spdlog::default_logger_raw()->should_log(level)) return;
  if (as_json) {
    spdlog::log(level, "\"message\":\"{}\",\"service\":\"rookery\",\"environment\":\"{}\"{}", escaped(message), environment, json_fields);
  } else {
    spdlog::log(level, "{}{}", escaped(message), text_fields);
  }
}

// An id is a capability: whoever reads the log must not be able to use it.
std::string shortened(std::string_view session) { return std::string(session.substr(0, 12)); }

}  // namespace

void start_log(const util::Settings& settings) {
  as_json = settings.log_format == "json";
  environment = escaped(settings.environment);
  auto logger = std::make_shared<spdlog::logger>("rookery", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern(as_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %L %v",
                      spdlog::pattern_time_type::utc);
  const std::string& level = settings.log_level;
  logger->set_level(level == "DEBUG"     ? spdlog::level::debug
                    : level == "INFO"    ? spdlog::level::info
                    : level == "WARNING" ? spdlog::level::warn
                    : level == "ERROR"   ? spdlog::level::err
                                         : spdlog::level::critical);
  spdlog::set_default_logger(logger);
}

void log_request(const RequestLine& line) {
  if (!spdlog::default_logger_raw()->should_log(spdlog::level::info)) return;
  const std::string session = escaped(shortened(line.session));
  write(spdlog::level::info, "request",
        fmt::format(",\"method\":\"{}\",\"route\":\"{}\",\"session\":\"{}\",\"status\":{},\"duration_ms\":{:.3f}", line.method, line.route,
                    session, line.status, static_cast<double>(line.duration_us) / 1000),
        fmt::format(" {} {} {} {} {:.3f}ms", line.method, line.route, session.empty() ? "-" : session, line.status,
                    static_cast<double>(line.duration_us) / 1000));
}

void log_event(std::string_view event, std::string_view session) {
  const std::string id = escaped(shortened(session));
  write(spdlog::level::info, event, ",\"session\":\"" + id + "\"", " " + id);
}

void log_warning(std::string_view text) { write(spdlog::level::warn, text, "", ""); }
void log_error(std::string_view text) { write(spdlog::level::err, text, "", ""); }

}  // namespace rookery::server

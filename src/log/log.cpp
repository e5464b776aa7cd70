// SPDX-License-Identifier: Apache-2.0
#include "log/log.h"

#include <spdlog/logger.h>
#include <spdlog/pattern_formatter.h>
#include <spdlog/sinks/stdout_sinks.h>

#include <algorithm>
#include <memory>

namespace rookery::log {

namespace {

struct State {
  std::shared_ptr<spdlog::logger> logger = make_logger(false);
  bool json = false;
  std::string role = "server";
  std::string service = "rookery";
  std::string environment;
  Observer observer;

  static std::shared_ptr<spdlog::logger> make_logger(bool as_json) {
    auto made = std::make_shared<spdlog::logger>("rookery", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern(as_json ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ",%v})" : "%Y-%m-%dT%H:%M:%S.%eZ %v", spdlog::pattern_time_type::utc);
    return made;
  }
};

State& state() {
  static State the_state;
  return the_state;
}

thread_local std::vector<Field> scope_fields;

spdlog::level::level_enum to_spdlog(Level level) noexcept {
  switch (level) {
    case Level::kDebug: return spdlog::level::debug;
    case Level::kInfo: return spdlog::level::info;
    case Level::kWarning: return spdlog::level::warn;
    case Level::kError: return spdlog::level::err;
    case Level::kCritical: break;
  }
  return spdlog::level::critical;
}

Level from_name(std::string_view text) noexcept {
  for (const Level level : {Level::kDebug, Level::kInfo, Level::kWarning, Level::kError}) {
    if (name(level) == text) return level;
  }
  return Level::kCritical;
}

}  // namespace

void start(const util::Settings& settings, std::string role) {
  State& s = state();
  s.json = settings.log_format == "json";
  s.role = std::move(role);
  s.service = settings.telemetry_service_name;
  s.environment = settings.environment;
  s.logger = State::make_logger(s.json);
  s.logger->set_level(to_spdlog(from_name(settings.log_level)));
}

void observe(Observer observer) { state().observer = std::move(observer); }

bool enabled(Level level) noexcept { return state().logger->should_log(to_spdlog(level)); }

void write(Level level, std::string_view message, std::initializer_list<Field> fields) { write_as(state().role, level, message, fields); }

void write_as(std::string_view role, Level level, std::string_view message, std::initializer_list<Field> fields) {
  if (!enabled(level)) return;
  const State& s = state();
  Record record{level, role, message, fields};
  for (const Field& field : scope_fields) {
    // A record's own value is the more exact one, and no name stands twice in a JSON object.
    if (std::none_of(fields.begin(), fields.end(), [&](const Field& own) { return own.name == field.name; })) record.fields.push_back(field);
  }
  s.logger->log(to_spdlog(level), s.json ? json_members(record, s.service, s.environment) : text_line(record));
  if (s.observer) s.observer(record);
}

Scope::Scope(std::initializer_list<Field> fields) : before_(scope_fields.size()) {
  scope_fields.insert(scope_fields.end(), fields.begin(), fields.end());
}

Scope::~Scope() { scope_fields.erase(scope_fields.begin() + static_cast<std::ptrdiff_t>(before_), scope_fields.end()); }

}  // namespace rookery::log

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>

#include "log/record.h"
#include "util/settings.h"

// The log of every process, on stderr: one write, one line, one record (spdlog). Never code, output or file contents.
namespace rookery::log {

// `role` names the process. Until this is called records go out as text, from INFO on. Before the process has threads.
void start(const util::Settings& settings, std::string role);

// Gets every record that is written, too. Before the process has threads.
using Observer = std::function<void(const Record& record)>;
void observe(Observer observer);

[[nodiscard]] bool enabled(Level level) noexcept;

void write(Level level, std::string_view message, std::initializer_list<Field> fields = {});
// Of another process, which has no log of its own: an init, the zygote.
void write_as(std::string_view role, Level level, std::string_view message, std::initializer_list<Field> fields = {});

inline void debug(std::string_view message, std::initializer_list<Field> fields = {}) { write(Level::kDebug, message, fields); }
inline void info(std::string_view message, std::initializer_list<Field> fields = {}) { write(Level::kInfo, message, fields); }
inline void warning(std::string_view message, std::initializer_list<Field> fields = {}) { write(Level::kWarning, message, fields); }
inline void error(std::string_view message, std::initializer_list<Field> fields = {}) { write(Level::kError, message, fields); }
inline void critical(std::string_view message, std::initializer_list<Field> fields = {}) { write(Level::kCritical, message, fields); }

// While it lives, this thread's records carry these fields behind their own. The texts have to live as long; scopes nest.
class Scope {
 public:
  explicit Scope(std::initializer_list<Field> fields);
  ~Scope();
  Scope(const Scope&) = delete;
  Scope& operator=(const Scope&) = delete;

 private:
  std::size_t before_;
};

}  // namespace rookery::log

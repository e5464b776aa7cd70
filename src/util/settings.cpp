// SPDX-License-Identifier: Apache-2.0
#include "util/settings.h"

#include <charconv>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

namespace rookery::util {

namespace {

[[noreturn]] void refuse(const char* name, std::string_view given, const std::string& allowed) {
  throw std::invalid_argument(std::string(name) + "=\"" + std::string(given) + "\" is not usable: allowed is " + allowed);
}

// Unset and empty both mean "the default".
const char* given(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? value : nullptr;
}

void read(const char* name, std::uint32_t& setting, std::uint32_t least, std::uint32_t most) {
  const char* text = given(name);
  if (text == nullptr) return;
  const std::string_view view(text);
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), value);
  if (error != std::errc{} || end != view.data() + view.size() || value < least || value > most) {
    refuse(name, view, "a whole number from " + std::to_string(least) + " to " + std::to_string(most));
  }
  setting = value;
}

template <typename T>
struct Choice {
  std::string_view word;
  T value;
};

template <typename T, std::size_t N>
void read(const char* name, T& setting, const Choice<T> (&choices)[N]) {
  const char* text = given(name);
  if (text == nullptr) return;
  std::string allowed;
  for (const auto& choice : choices) {
    if (choice.word == text) {
      setting = choice.value;
      return;
    }
    allowed += (allowed.empty() ? "" : ", ") + std::string(choice.word);
  }
  refuse(name, text, "one of " + allowed);
}

// How --listen reaches the processes that `rookery serve` starts.
constexpr const char* kListenVariable = "ROOKERY_LISTEN";

void read_path(const char* name, std::string& setting) {
  const char* text = given(name);
  if (text == nullptr) return;
  if (text[0] != '/') refuse(name, text, "an absolute path");
  setting = text;
}

}  // namespace

Settings settings_from_environment() {
  Settings s;
  constexpr std::uint32_t day = 86400;
  read_path("SANDBOX_SESSIONS_ROOT", s.sessions_root);
  read("SANDBOX_SESSION_IDLE_TIMEOUT", s.session_idle_timeout_s, 1, 30 * day);
  read("SANDBOX_SESSION_MAX_LIFETIME", s.session_max_lifetime_s, 1, 30 * day);
  read("SANDBOX_SESSION_GC_INTERVAL", s.session_gc_interval_s, 1, day);
  read("SANDBOX_MAX_SESSIONS", s.max_sessions, 1, 10000);
  read("SANDBOX_POOL_SIZE", s.pool_size, 0, 256);
  read("SANDBOX_RUNNER_MEMORY_MB", s.memory_mb, 64, 1u << 22);
  read("SANDBOX_RUNNER_CPU_SECONDS", s.cpu_seconds, 1, day);
  read("SANDBOX_RUNNER_FSIZE_MB", s.fsize_mb, 1, 1u << 22);
  read("SANDBOX_RUNNER_NOFILE", s.nofile, 64, 4096);
  read("SANDBOX_RUNNER_MAX_OUTPUT_BYTES", s.max_output_bytes, 1024, 64u << 20);
  read("SANDBOX_RUNNER_PIDS", s.pids, 16, 32768);
  read("SANDBOX_RUNNER_CPU_MILLIS", s.cpu_millis, 50, 256000);
  read("SANDBOX_WORKSPACE_MB", s.workspace_mb, 16, 1u << 22);
  read("SANDBOX_WORKSPACE_INODES", s.workspace_inodes, 1024, 1u << 30);
  read("SANDBOX_WORKSPACE", s.workspace_on_disk, {Choice<bool>{"tmpfs", false}, {"dir", true}});
  read("SANDBOX_DEFAULT_TIMEOUT", s.default_timeout_s, 1, day);
  read("SANDBOX_MAX_TIMEOUT", s.max_timeout_s, 1, day);
  read("SANDBOX_QUEUE_TIMEOUT", s.queue_timeout_s, 1, day);
  read("SANDBOX_MAX_THREADS", s.max_threads, 8, 8192);
  read("SANDBOX_MAX_CONNECTIONS", s.max_connections, 16, 65536);
  read("SANDBOX_MAX_UPLOAD_MB", s.max_upload_mb, 1, 65536);
  read_path("SANDBOX_PYTHON", s.python);
  read("SANDBOX_JAIL_USERNS", s.jail_userns,
       {Choice<JailUserns>{"auto", JailUserns::kAuto}, {"nested", JailUserns::kNested}, {"flat", JailUserns::kFlat}});
  read("SANDBOX_SPAWN", s.spawn, {Choice<SpawnMode>{"exec", SpawnMode::kExec}, {"fork", SpawnMode::kFork}});
  if (const char* text = given("SANDBOX_PRELOAD")) s.preload = text;
  read("SANDBOX_ZYGOTE_MAX_FORKS", s.zygote_max_forks, 1, 1000000);
  read("LOG_FORMAT", s.log_format, {Choice<std::string>{"text", "text"}, {"json", "json"}});
  read("LOG_LEVEL", s.log_level,
       {Choice<std::string>{"DEBUG", "DEBUG"}, {"INFO", "INFO"}, {"WARNING", "WARNING"}, {"ERROR", "ERROR"}, {"CRITICAL", "CRITICAL"}});
  if (const char* text = given("ENVIRONMENT")) s.environment = text;
  if (const char* text = given("SANDBOX_ALLOWED_HOSTS")) s.allowed_hosts = text;
  if (const char* text = given(kListenVariable)) set_listen(s, text);
  return s;
}

void set_listen(Settings& settings, const std::string& text) {
  const auto colon = text.rfind(':');
  std::uint32_t port = 0;
  const char* const end = text.data() + text.size();
  const bool has_port = colon != std::string::npos && colon > 0 &&
                        std::from_chars(text.data() + colon + 1, end, port).ptr == end && colon + 1 < text.size() && port <= 65535;
  std::string host = has_port ? text.substr(0, colon) : "";
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (!has_port || host.empty()) throw std::invalid_argument("--listen " + text + " is not usable: allowed is HOST:PORT, e.g. 127.0.0.1:8080");
  settings.listen_host = host;
  settings.listen_port = static_cast<std::uint16_t>(port);
  ::setenv(kListenVariable, text.c_str(), 1);
}

}  // namespace rookery::util

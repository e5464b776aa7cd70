// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rookery::util {

enum class JailUserns { kAuto, kNested, kFlat };
enum class SpawnMode { kExec, kFork };

// What the operator can set; names and defaults are those of the environment variables in README's table.
struct Settings {
  // --listen HOST:PORT
  std::string listen_host = "127.0.0.1";
  std::uint16_t listen_port = 8080;

  std::string allowed_hosts;  // SANDBOX_ALLOWED_HOSTS: names a Host header may hold, comma-separated

  std::string sessions_root = "/var/sandbox/sessions";  // SANDBOX_SESSIONS_ROOT
  std::uint32_t session_idle_timeout_s = 900;           // SANDBOX_SESSION_IDLE_TIMEOUT, seconds
  std::uint32_t session_max_lifetime_s = 7200;          // SANDBOX_SESSION_MAX_LIFETIME, seconds
  std::uint32_t session_gc_interval_s = 30;             // SANDBOX_SESSION_GC_INTERVAL, seconds
  std::uint32_t max_sessions = 256;                     // SANDBOX_MAX_SESSIONS
  std::uint32_t pool_size = 8;                          // SANDBOX_POOL_SIZE: jails built ahead

  std::uint32_t memory_mb = 1536;            // SANDBOX_RUNNER_MEMORY_MB, MiB a session
  std::uint32_t cpu_seconds = 120;           // SANDBOX_RUNNER_CPU_SECONDS, CPU seconds a call
  std::uint32_t fsize_mb = 256;              // SANDBOX_RUNNER_FSIZE_MB, MiB a file
  std::uint32_t nofile = 256;                // SANDBOX_RUNNER_NOFILE, descriptors a process
  std::uint32_t max_output_bytes = 1048576;  // SANDBOX_RUNNER_MAX_OUTPUT_BYTES, bytes a stream
  std::uint32_t pids = 128;                  // SANDBOX_RUNNER_PIDS
  std::uint32_t cpu_millis = 1000;           // SANDBOX_RUNNER_CPU_MILLIS, thousandths of a core
  std::uint32_t workspace_mb = 1024;         // SANDBOX_WORKSPACE_MB, MiB for /workspace, /tmp and /dev/shm together
  std::uint32_t workspace_inodes = 262144;   // SANDBOX_WORKSPACE_INODES
  bool workspace_on_disk = false;            // SANDBOX_WORKSPACE=tmpfs|dir

  std::uint32_t default_timeout_s = 30;  // SANDBOX_DEFAULT_TIMEOUT, seconds; a call that names none
  std::uint32_t max_timeout_s = 120;     // SANDBOX_MAX_TIMEOUT, seconds; higher requests are lowered to it
  std::uint32_t queue_timeout_s = 30;    // SANDBOX_QUEUE_TIMEOUT, seconds a call waits for its session
  std::uint32_t max_threads = 512;       // SANDBOX_MAX_THREADS: requests served at once
  std::uint32_t max_connections = 16384; // SANDBOX_MAX_CONNECTIONS
  std::uint32_t max_upload_mb = 100;     // SANDBOX_MAX_UPLOAD_MB, MiB

  std::string python;                             // SANDBOX_PYTHON; empty: python3 of the image
  JailUserns jail_userns = JailUserns::kAuto;     // SANDBOX_JAIL_USERNS=auto|nested|flat
  SpawnMode spawn = SpawnMode::kFork;             // SANDBOX_SPAWN=fork|exec
  std::string preload;                            // SANDBOX_PRELOAD: modules the zygote imports; empty: its own list
  std::uint32_t zygote_max_forks = 1000;          // SANDBOX_ZYGOTE_MAX_FORKS: then another takes its place

  std::string log_format = "text";         // LOG_FORMAT=text|json
  std::string log_level = "INFO";          // LOG_LEVEL
  std::string environment = "production";  // ENVIRONMENT
};

// Reads the environment over the defaults. Throws std::invalid_argument with the variable's name,
// what was given and what is allowed.
Settings settings_from_environment();

// Sets --listen HOST:PORT, for this process and, through the environment, for those it starts. HOST may be a name, an
// IPv4 address or an IPv6 address in brackets. Throws std::invalid_argument.
void set_listen(Settings& settings, const std::string& host_and_port);

}  // namespace rookery::util

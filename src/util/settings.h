// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rookery::util {

enum class JailUserns { kAuto, kNested, kFlat };
enum class SpawnMode { kExec, kFork };

// Protections that a start can do without only where the operator has allowed it by name (SANDBOX_ALLOW_WEAKER).
struct Weaker {
  bool shared_uid = false;  // "shared-uid": sessions and processes all have the user id that rookery was started with
  bool no_cgroup = false;   // "no-cgroup": limits by rlimits alone, a process each

  [[nodiscard]] bool any() const noexcept { return shared_uid || no_cgroup; }
  // The names, separated by ",", and back; false where one is no such name.
  [[nodiscard]] std::string text() const;
  static bool parse(std::string_view text, Weaker& into);
};

// The name of the image that the host's own root makes.
inline constexpr const char* kDefaultImage = "default";

// One of SANDBOX_IMAGES: a root file system with an interpreter of its own.
struct ImageSource {
  std::string name;  // 1 to 63 of A-Z a-z 0-9 . _ : -
  std::string root;  // absolute
};

// What the operator can set. Variable, flag, default, unit, range and meaning of each member stand in its row of
// util/settings_table.cpp, and nowhere else.
struct Settings {
  // All defaults of the table.
  Settings();

  std::string config_file;

  std::string listen_host;
  std::uint16_t listen_port = 0;
  std::string listen_path;  // of a unix socket; then host and port say nothing
  std::string listen_mode;  // of that socket, octal
  std::string auth_token;
  std::string auth_token_file;
  bool no_auth = false;
  bool require_tenant = false;
  std::string tenant_header;
  std::string allowed_hosts;

  std::string node_id;  // 4 lower-case hex digits, or empty: random at every start
  std::string sessions_root;
  std::uint32_t session_idle_timeout_s = 0;
  std::uint32_t session_max_lifetime_s = 0;
  std::uint32_t session_gc_interval_s = 0;
  std::uint32_t max_sessions = 0;
  std::uint32_t pool_size = 0;

  std::uint32_t memory_mb = 0;
  std::uint32_t cpu_seconds = 0;
  std::uint32_t cpu_millis = 0;
  std::uint32_t pids = 0;
  std::uint32_t fsize_mb = 0;
  std::uint32_t nofile = 0;
  std::uint32_t max_output_bytes = 0;
  std::uint32_t workspace_mb = 0;
  std::uint32_t workspace_inodes = 0;
  bool workspace_on_disk = false;

  std::uint32_t default_timeout_s = 0;
  std::uint32_t max_timeout_s = 0;
  std::uint32_t queue_timeout_s = 0;
  std::uint32_t max_threads = 0;
  std::uint32_t max_connections = 0;
  std::uint32_t max_upload_mb = 0;

  std::string python;
  std::vector<ImageSource> images;  // more than the default one
  SpawnMode spawn = SpawnMode::kFork;
  std::string preload;
  std::uint32_t zygote_max_forks = 0;
  JailUserns jail_userns = JailUserns::kAuto;

  Weaker allow_weaker;  // what may be missing
  Weaker weaker;        // what is missing: no setting, the start finds out

  std::string log_format;
  std::string log_level;
  std::string environment;

  bool telemetry_enabled = false;
  std::string telemetry_service_name;
  std::string telemetry_endpoint;
  std::string telemetry_headers;
  std::string telemetry_certificates;
  std::uint32_t telemetry_metrics_interval_s = 0;
};

// 0 for the default image and every unknown name; else 1 + the place in `settings.images`.
std::uint32_t image_index(const Settings& settings, std::string_view name) noexcept;

// Reads the environment over the defaults: how the processes that `rookery serve` starts learn what is in force.
// Throws std::invalid_argument with the variable's name, what was given and what is allowed.
Settings settings_from_environment();

// Writes everything that is not at its default into this process's environment, and takes the other settings out of it.
// Not the access token, which goes to the server alone, by a channel; another secret is for forget_secrets() of the
// processes that read it.
void export_settings(Settings settings);

// Overwrites the secrets among the settings in this process's environment where the kernel shows it
// (/proc/PID/environ), and takes them out of it.
void forget_secrets();

// Sets what is missing, for this process and those that it starts.
void set_weaker(Settings& settings, const Weaker& weaker);

}  // namespace rookery::util

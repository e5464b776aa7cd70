// SPDX-License-Identifier: Apache-2.0
#include "util/settings_table.h"

#include <algorithm>

#include "util/otlp_destination.h"
#include "util/setting_kinds.h"

namespace rookery::util {

namespace {

constexpr std::uint32_t kDay = 86400;
constexpr std::uint32_t kMonth = 30 * kDay;

constexpr std::string_view kUnix = "unix:";

// HOST:PORT; HOST may be a name, an IPv4 address or an IPv6 address in brackets. Or unix:PATH.
bool set_listen(Settings& settings, std::string_view given) {
  if (given.starts_with(kUnix)) {
    const std::string_view path = given.substr(kUnix.size());
    if (!path.starts_with('/') || !is_one_line(path)) return false;
    settings.listen_path = path;
    settings.listen_host.clear();
    return true;
  }
  const auto colon = given.rfind(':');
  std::uint32_t port = 0;
  if (colon == std::string_view::npos || !parse_number(given.substr(colon + 1), port) || port > 65535) return false;
  std::string_view host = given.substr(0, colon);
  if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
  if (host.empty() || !is_one_line(host)) return false;
  settings.listen_path.clear();
  settings.listen_host = host;
  settings.listen_port = static_cast<std::uint16_t>(port);
  return true;
}

std::string get_listen(const Settings& settings) {
  if (!settings.listen_path.empty()) return std::string(kUnix) + settings.listen_path;
  const bool v6 = settings.listen_host.find(':') != std::string::npos;
  return (v6 ? "[" + settings.listen_host + "]" : settings.listen_host) + ":" + std::to_string(settings.listen_port);
}

bool is_mode(std::string_view given) {
  return given.size() >= 3 && given.size() <= 4 && given.find_first_not_of("01234567") == std::string_view::npos &&
         (given.size() == 3 || given.front() == '0');
}

// The name of a header field (RFC 9110 5.1), of letters, digits and dashes.
bool is_field_name(std::string_view given) {
  return std::all_of(given.begin(), given.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
  });
}

// Filled up to 4 hex digits.
bool set_node_id(Settings& settings, std::string_view text) {
  if (text.size() > 4 || text.find_first_not_of("0123456789abcdefABCDEF") != text.npos) return false;
  settings.node_id = std::string(4 - text.size(), '0');
  for (const char c : text) settings.node_id += c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c;
  return true;
}

constexpr std::size_t kMaxImages = 16;

bool is_image_name(std::string_view name) {
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._:-";
  return !name.empty() && name.size() < 64 && name.front() != '.' && name != kDefaultImage && name.find_first_not_of(kAllowed) == name.npos;
}

bool set_images(Settings& settings, std::string_view text) {
  if (!is_one_line(text)) return false;
  settings.images.clear();
  for (bool last = false; !last;) {
    const std::string_view item = text.substr(0, text.find(','));
    last = item.size() == text.size();
    if (!last) text.remove_prefix(item.size() + 1);
    const auto equals = item.find('=');
    const std::string_view name = item.substr(0, equals);
    const std::string_view root = equals == item.npos ? "" : item.substr(equals + 1);
    if (!is_image_name(name) || image_index(settings, name) != 0 || !root.starts_with('/') || settings.images.size() == kMaxImages) return false;
    settings.images.push_back({std::string(name), std::string(root)});
  }
  return true;
}

std::string get_images(const Settings& settings) {
  std::string text;
  for (const ImageSource& image : settings.images) text += (text.empty() ? "" : ",") + image.name + "=" + image.root;
  return text;
}

std::vector<SettingGroup> groups() {
  using S = Settings;
  return {
      {"Configuration file",
       {
           path(&S::config_file, "SANDBOX_CONFIG", "",
                "a JSON object {variable: value} of settings, between the defaults and the environment"),
       }},
      {"Address and access",
       {
           custom("SANDBOX_LISTEN", "127.0.0.1:8080", "HOST:PORT, e.g. 127.0.0.1:8080 or [::1]:8080, or unix:PATH with an absolute path",
                  &set_listen, &get_listen,
                  "where to listen. Port 0: any that is free. Not an address that others can reach, unless there is a token or `--no-auth`"),
           text(&S::listen_mode, "SANDBOX_LISTEN_MODE", "0660", "an octal mode from 000 to 0777", &is_mode,
                "permissions of the unix socket, which belongs to root"),
           secret(text(&S::auth_token, "SANDBOX_AUTH_TOKEN", "",
                       "a token that every request but for `/health` and `/ready` must bring as `Authorization: Bearer TOKEN`, "
                       "or a browser that opens a page as its password")),
           path(&S::auth_token_file, "SANDBOX_AUTH_TOKEN_FILE", "",
                "a file of such tokens instead, one a line, all valid; read again on SIGHUP"),
           toggle(&S::no_auth, "SANDBOX_NO_AUTH", "0",
                  "serve without a token also on an address that others can reach"),
           toggle(&S::require_tenant, "SANDBOX_REQUIRE_TENANT", "0",
                  "every request but for `/health` and `/ready` names a tenant, and sees that tenant's sessions only"),
           text(&S::tenant_header, "SANDBOX_TENANT_HEADER", "X-Tenant-Id", "a name of letters, digits and dashes",
                &is_field_name, "the header field that names the tenant; whoever sends requests is trusted with it"),
           text(&S::allowed_hosts, "SANDBOX_ALLOWED_HOSTS", "",
                "names that the `Host` field may hold, comma-separated. A server on loopback answers to `localhost`, "
                "`127.0.0.1`, `[::1]` and these; one elsewhere to any name while this is empty"),
       }},
      {"Sessions",
       {
           custom("SANDBOX_NODE_ID", "", "1 to 4 hex digits", &set_node_id, [](const Settings& settings) { return settings.node_id; },
                  "what every session id of this server begins with, after `sbx_` and filled up to 4 digits, so that a proxy can tell "
                  "nodes apart; empty: random at every start"),
           path(&S::sessions_root, "SANDBOX_SESSIONS_ROOT", "/var/sandbox/sessions",
                "directory for session storage; one server each. An ordinary user's is `~/.local/state/rookery/sessions` unless given"),
           number(&S::session_idle_timeout_s, "SANDBOX_SESSION_IDLE_TIMEOUT", 900, "seconds", 1, kMonth,
                  "seconds without a call, after which a session ends"),
           number(&S::session_max_lifetime_s, "SANDBOX_SESSION_MAX_LIFETIME", 7200, "seconds", 1, kMonth,
                  "seconds after which a session ends; the most that a client can ask for, also as idle timeout"),
           number(&S::session_gc_interval_s, "SANDBOX_SESSION_GC_INTERVAL", 30, "seconds", 1, kDay,
                  "seconds between two looks at sessions that were in use when their time was over; others end on time"),
           number(&S::max_sessions, "SANDBOX_MAX_SESSIONS", 256, "", 1, 10000, "sessions at once; beyond: 503"),
           number(&S::pool_size, "SANDBOX_POOL_SIZE", 8, "", 0, 256, "jails built ahead"),
       }},
      {"Limits of a session",
       {
           number(&S::memory_mb, "SANDBOX_RUNNER_MEMORY_MB", 1536, "MiB", 64, 1u << 22,
                  "memory a session, what it writes to its tmpfs included"),
           number(&S::cpu_seconds, "SANDBOX_RUNNER_CPU_SECONDS", 120, "CPU seconds", 1, kDay, "CPU time a call"),
           number(&S::cpu_millis, "SANDBOX_RUNNER_CPU_MILLIS", 1000, "thousandths of a core", 50, 256000,
                  "share of the processors a session"),
           number(&S::pids, "SANDBOX_RUNNER_PIDS", 128, "", 16, 32768, "processes and threads a session"),
           number(&S::fsize_mb, "SANDBOX_RUNNER_FSIZE_MB", 256, "MiB", 1, 1u << 22,
                  "size of a file that the session's code writes"),
           number(&S::nofile, "SANDBOX_RUNNER_NOFILE", 256, "", 64, 4096, "open files a process"),
           number(&S::max_output_bytes, "SANDBOX_RUNNER_MAX_OUTPUT_BYTES", 1048576, "bytes", 1024, 64u << 20,
                  "each of stdout and stderr that a call returns"),
           number(&S::workspace_mb, "SANDBOX_WORKSPACE_MB", 1024, "MiB", 16, 1u << 22,
                  "`/workspace`, `/tmp` and `/dev/shm` together"),
           number(&S::workspace_inodes, "SANDBOX_WORKSPACE_INODES", 262144, "", 1024, 1u << 30,
                  "files and directories in them"),
           choice<bool>(&S::workspace_on_disk, "SANDBOX_WORKSPACE", {{"tmpfs", false}, {"dir", true}}, "tmpfs",
                        "`dir`: a plain directory below the sessions root instead; then the two limits above do not hold"),
       }},
      {"Calls and requests",
       {
           number(&S::default_timeout_s, "SANDBOX_DEFAULT_TIMEOUT", 30, "seconds", 1, kDay,
                  "seconds for a call that names no timeout"),
           number(&S::max_timeout_s, "SANDBOX_MAX_TIMEOUT", 120, "seconds", 1, kDay,
                  "seconds, the longest timeout; a higher request is lowered to it"),
           number(&S::queue_timeout_s, "SANDBOX_QUEUE_TIMEOUT", 30, "seconds", 1, kDay,
                  "seconds that a call waits for earlier ones of its session; then 503"),
           number(&S::max_threads, "SANDBOX_MAX_THREADS", 512, "", 8, 8192,
                  "requests served at once; beyond: 503. A few more are kept for cheap ones, `/health` above all"),
           number(&S::max_connections, "SANDBOX_MAX_CONNECTIONS", 16384, "", 16, 65536,
                  "open connections; beyond, the oldest idle one is closed"),
           number(&S::max_upload_mb, "SANDBOX_MAX_UPLOAD_MB", 100, "MiB", 1, 65536, "size of a file that is uploaded"),
       }},
      {"Interpreter and jail",
       {
           path(&S::python, "SANDBOX_PYTHON", "",
                "the interpreter, e.g. of a virtual environment. Else the first of `/opt/sandbox/venv/bin/python3`, "
                "`/usr/local/bin/python3`, `/usr/bin/python3`"),
           choice<SpawnMode>(&S::spawn, "SANDBOX_SPAWN", {{"fork", SpawnMode::kFork}, {"exec", SpawnMode::kExec}}, "fork",
                             "`fork`: interpreters from the zygote; `exec`: each started afresh. SECURITY.md weighs the two"),
           text(&S::preload, "SANDBOX_PRELOAD", "",
                "modules that the zygote imports, separated by spaces or commas; empty: a list of usual ones, of which "
                "those that are installed"),
           number(&S::zygote_max_forks, "SANDBOX_ZYGOTE_MAX_FORKS", 1000, "", 1, 1000000,
                  "interpreters from one zygote before another takes its place"),
           choice<JailUserns>(
               &S::jail_userns, "SANDBOX_JAIL_USERNS",
               {{"auto", JailUserns::kAuto}, {"nested", JailUserns::kNested}, {"flat", JailUserns::kFlat}}, "auto",
               "`nested`: a user namespace for each jail; `flat`: none; `auto`: nested, and flat where the host refuses that"),
           custom("SANDBOX_ALLOW_WEAKER", "", "a list of shared-uid and no-cgroup, separated by commas",
                  [](Settings& settings, std::string_view given) { return Weaker::parse(given, settings.allow_weaker); },
                  [](const Settings& settings) { return settings.allow_weaker.text(); },
                  "what a start may do without: `shared-uid` (ids of their own for sessions; only of an ordinary user), `no-cgroup`. "
                  "SECURITY.md says what that means"),
       }},
      {"Log",
       {
           custom("SANDBOX_IMAGES", "",
                  "NAME=/ROOT,NAME=/ROOT,... of at most 16 different names (letters, digits, `._:-`; not `default`) and absolute paths without a comma",
                  &set_images, &get_images, "root file systems that a client can ask for by name; see README's section Images"),
           choice(&S::log_format, "LOG_FORMAT", {"text", "json"}, "text", "how a line of the log is written"),
           choice(&S::log_level, "LOG_LEVEL", {"DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"}, "INFO",
                  "the least important lines that are written"),
           text(&S::environment, "ENVIRONMENT", "production",
                "a name for log lines in JSON and the resource attribute `deployment.environment`"),
       }},
      {"Telemetry",
       {
           toggle(&S::telemetry_enabled, "TELEMETRY_ENABLED", "0",
                  "export traces, metrics and logs by OTLP over HTTP; without it nothing is ever sent"),
           text(&S::telemetry_service_name, "TELEMETRY_SERVICE_NAME", "rookery",
                "`service` in log lines and the resource attribute `service.name`"),
           text(&S::telemetry_endpoint, "TELEMETRY_OTLP_ENDPOINT", "http://localhost:4318",
                "an URL http://HOST[:PORT][/PATH] or https://...",
                [](std::string_view value) { return parse_otlp_endpoint(value).has_value(); },
                "the receiver; `/v1/traces`, `/v1/metrics` and `/v1/logs` are put behind it"),
           secret(text(&S::telemetry_headers, "TELEMETRY_OTLP_HEADERS", "",
                       "name=value, comma-separated, percent-encoded where need be",
                       [](std::string_view value) { return parse_otlp_headers(value).has_value(); },
                       "fields to send along, e.g. `authorization=Bearer%20...`")),
           path(&S::telemetry_certificates, "TELEMETRY_OTLP_CERTIFICATE", "/etc/ssl/certs/ca-certificates.crt",
                "a PEM file of the authorities that an https receiver's certificate may come from; read at the start"),
           number(&S::telemetry_metrics_interval_s, "TELEMETRY_METRICS_INTERVAL", 15, "seconds", 1, 3600,
                  "between two exports of metrics"),
       }},
  };
}

}  // namespace

const std::vector<SettingGroup>& setting_groups() {
  static const std::vector<SettingGroup> table = groups();
  return table;
}

}  // namespace rookery::util

// SPDX-License-Identifier: Apache-2.0
#include "server/main.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstdio>
#include <optional>

#include "log/log.h"
#include "server/access.h"
#include "server/allowed_hosts.h"
#include "server/handlers.h"
#include "server/http/http_server.h"
#include "server/monitor.h"
#include "server/privileges.h"
#include "server/request_log.h"
#include "server/server_metrics.h"
#include "server/session_table.h"
#include "server/telemetry.h"
#include "server/warden_client.h"
#include "sys/error.h"
#include "util/settings_table.h"
#include "wire/children.h"

namespace rookery::server {

namespace {

http::Limits http_limits(const util::Settings& settings) {
  http::Limits limits;
  limits.max_threads = settings.max_threads;
  limits.max_connections = settings.max_connections;
  limits.max_upload_body = (std::size_t{settings.max_upload_mb} << 20) + 64 * 1024;
  return limits;
}

http::Hooks hooks(const util::Settings& settings, const Access& access, Handlers& handlers, ServerMetrics& metrics, Telemetry* telemetry) {
  http::Hooks hooks;
  hooks.handler = [&handlers](http::Request& request, http::Response& response) { handlers.handle(request, response); };
  hooks.host_allowed = [allowed = AllowedHosts(settings)](std::string_view host) { return allowed.contains(host); };
  hooks.host_is_own = [allowed = AllowedHosts(settings)](std::string_view host) { return allowed.is_own(host); };
  hooks.authorize = [&access](const http::RequestHead& head, const http::RouteMatch* route) { return access.authorize(head, route); };
  hooks.log_error = [](std::string_view text) { log::error("internal error", {{"error", text}}); };
  hooks.trace_every_request = telemetry != nullptr;
  hooks.access = [&metrics, telemetry](const http::AccessRecord& record) {
    metrics.count(record);
    if (telemetry != nullptr) telemetry->request(record);
    log_request(record);
  };
  return hooks;
}

// Outputs and bodies of about a megabyte come and go all the time: their memory is kept for the next one instead of being
// given back to the kernel and faulted in again. At most kArenas times kKept bytes stay (mallopt(3)).
void keep_some_memory() {
  constexpr int kArenas = 4;
  constexpr int kKept = 8 << 20;
  ::mallopt(M_ARENA_MAX, kArenas);
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

}  // namespace

int server_main(util::Settings settings) {
  keep_some_memory();
  sys::check(::prctl(PR_SET_NAME, "server"), "name the process");
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGTERM, SIGINT, SIGUSR1}) sigaddset(&watched, signal);
  sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
  ::signal(SIGPIPE, SIG_IGN);
  log::start(settings, "server");
  give_up_privileges(settings);
  std::optional<Telemetry> telemetry;
  if (settings.telemetry_enabled) {
    telemetry.emplace(settings, sys::UniqueFd(wire::kServerTelemetryChannel), sys::UniqueFd(wire::kServerTelemetryCounts));
    telemetry->follow_log();
  }
  Access access(settings, sys::UniqueFd(wire::kServerSupervisorChannel));
  wait_for_start(wire::kServerWardenChannel);

  WardenClient warden(sys::UniqueFd(wire::kServerWardenChannel), [] { ::_exit(1); });
  ServerMetrics metrics;
  SessionTable sessions(settings, warden, metrics);
  Monitor monitor(settings, sessions, warden, metrics, telemetry ? &*telemetry : nullptr);
  Handlers handlers(settings, access, sessions, warden, metrics, monitor);
  http::HttpServer server(sys::UniqueFd(wire::kServerListenSocket), http_limits(settings), hooks(settings, access, handlers, metrics, telemetry ? &*telemetry : nullptr));
  monitor.watch(&server);
  if (telemetry) telemetry->follow_metrics([&monitor] { return monitor.families(); });
  // The one line that says it is ready, for people and for scripts that wait.
  const std::string weaker = settings.weaker.any() ? ", weaker than usual (SECURITY.md): " + settings.weaker.text() : "";
  const std::string where = util::find_setting("SANDBOX_LISTEN")->get(settings);
  std::printf("rookery ready on %s%s%s\n", settings.listen_path.empty() ? "http://" : "", where.c_str(), weaker.c_str());
  std::fflush(stdout);
  access.tell_ready();

  log::info("server started", {{"version", ROOKERY_VERSION}, {"listen", where}});

  for (int signal = 0; signal != SIGTERM && signal != SIGINT;) {
    if (::sigwait(&watched, &signal) == 0 && signal == SIGUSR1) sessions.drain();
  }
  log::info("server stops", {{"sessions", static_cast<std::int64_t>(sessions.count())}});
  server.stop();
  sessions.destroy_all();
  if (telemetry) telemetry->end();
  return 0;
}

}  // namespace rookery::server

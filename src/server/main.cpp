// SPDX-License-Identifier: Apache-2.0
#include "server/main.h"

#include <fcntl.h>
#include <poll.h>
#include <malloc.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <fstream>
#include <optional>
#include <stdexcept>

#include "log/log.h"
#include "server/access.h"
#include "server/allowed_hosts.h"
#include "server/handlers.h"
#include "server/http/http_server.h"
#include "server/monitor.h"
#include "server/request_log.h"
#include "server/server_metrics.h"
#include "server/session_table.h"
#include "server/telemetry.h"
#include "server/warden_client.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/seccomp.h"
#include "util/embedded.h"
#include "util/settings_table.h"

namespace rookery::server {

namespace {

// warden/handover.h; the server links no warden code.
constexpr int kListenSocket = 3;
constexpr int kWardenChannel = 4;
constexpr int kSupervisorChannel = 5;
constexpr int kTelemetryChannel = 6;
constexpr uid_t kUid = 100;

// To write into workspaces whose owner is the session: read and write any file there, hand new ones over.
constexpr cap_value_t kCapabilities[] = {CAP_DAC_OVERRIDE, CAP_CHOWN, CAP_FOWNER};

// A root without anything but a proc of its own PID namespace, which linkat(2) of unnamed files goes through.
void enter_empty_root() {
  const std::string root = "./empty";  // it is started in the warden's root
  sys::make_private();
  sys::mount_fs("tmpfs", root, MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k,nr_inodes=16");
  sys::check(::mkdir((root + "/proc").c_str(), 0755), "make the server's /proc");
  sys::mount_fs("proc", root + "/proc", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY, "subset=pid");
  sys::restrict_mount(root, MOUNT_ATTR_RDONLY);
  sys::enter_root(root);
}

// Bytes of private writable memory that this process has mapped: proc(5), statm, "data".
rlim_t mapped_data() {
  std::ifstream file("/proc/self/statm");
  rlim_t size = 0, resident = 0, shared = 0, text = 0, library = 0, data = 0;
  if (!(file >> size >> resident >> shared >> text >> library >> data)) throw std::runtime_error("cannot read /proc/self/statm");
  return data * static_cast<rlim_t>(::sysconf(_SC_PAGESIZE));
}

// The last line, when every bound on requests has failed: more memory of its own than all threads with their largest JSON bodies
// can need ends the server, not the machine. What is uploaded is the workspaces' memory and does not count here.
void limit_resources(const util::Settings& settings) {
  constexpr rlim_t kStack = rlim_t{8} << 20;
  constexpr rlim_t kRest = rlim_t{1} << 30;
  const http::Limits http;
  const rlim_t most = mapped_data() + (settings.max_threads + http.reserved_threads) * (kStack + http.max_json_body) + kRest;
  const rlimit data{most, most};
  const rlimit none{0, 0};
  sys::check(::setrlimit(RLIMIT_DATA, &data), "limit the server's memory");
  sys::check(::setrlimit(RLIMIT_CORE, &none), "forbid core files of the server");
}

// The order is the security property: what a step needs goes in a later one.
void give_up_privileges(const util::Settings& settings) {
  enter_empty_root();
  limit_resources(settings);
  const uid_t uid = settings.weaker.shared_uid ? 0 : kUid;
  sys::take_ids(uid, uid);
  sys::keep_only_capabilities(kCapabilities);
  sys::set_no_new_privileges();
  sys::check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "set the parent-death signal");
  sys::check(::prctl(PR_SET_DUMPABLE, 0), "make the process not dumpable");
  sys::verify_dropped(kCapabilities);
  const sys::SeccompFilter filter = sys::SeccompFilter::compile(util::embedded_file("policy/seccomp/server.json"));
  if (const int error = filter.load(); error != 0) {
    errno = error;
    sys::throw_errno("load the server's seccomp filter");
  }
  if (::unshare(CLONE_NEWUSER) == 0 || errno != EPERM) throw std::logic_error("the server's seccomp filter is not in force");
}

void wait_for_start() {
  pollfd fds[] = {{kWardenChannel, POLLIN, 0}};
  char go = 0;
  while (::poll(fds, 1, -1) < 0) {
  }
  if (::recv(kWardenChannel, &go, 1, 0) != 1) throw std::runtime_error("the warden went away");
}

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
  hooks.authorize = [&access](const http::RequestHead& head) { return access.authorize(head); };
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
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&watched, signal);
  sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
  ::signal(SIGPIPE, SIG_IGN);
  log::start(settings, "server");
  give_up_privileges(settings);
  std::optional<Telemetry> telemetry;
  if (settings.telemetry_enabled) {
    telemetry.emplace(settings, sys::UniqueFd(kTelemetryChannel));
    telemetry->follow_log();
  }
  Access access(settings, sys::UniqueFd(kSupervisorChannel));
  wait_for_start();

  WardenClient warden(sys::UniqueFd(kWardenChannel), [] { ::_exit(1); });
  ServerMetrics metrics;
  SessionTable sessions(settings, warden, metrics);
  Monitor monitor(settings, sessions, warden, metrics, telemetry ? &*telemetry : nullptr);
  Handlers handlers(settings, access, sessions, warden, metrics, monitor);
  http::HttpServer server(sys::UniqueFd(kListenSocket), http_limits(settings), hooks(settings, access, handlers, metrics, telemetry ? &*telemetry : nullptr));
  monitor.watch(&server);
  if (telemetry) telemetry->follow_metrics([&monitor] { return monitor.families(); });
  // The one line that says it is ready, for people and for scripts that wait.
  const std::string weaker = settings.weaker.any() ? ", weaker than usual (SECURITY.md): " + settings.weaker.text() : "";
  const std::string where = util::find_setting("SANDBOX_LISTEN")->get(settings);
  std::printf("rookery ready on %s%s%s\n", settings.listen_path.empty() ? "http://" : "", where.c_str(), weaker.c_str());
  std::fflush(stdout);
  access.tell_ready();

  log::info("server started", {{"version", ROOKERY_VERSION}, {"listen", where}});

  int signal = 0;
  while (::sigwait(&watched, &signal) != 0) {
  }
  log::info("server stops", {{"sessions", static_cast<std::int64_t>(sessions.count())}});
  server.stop();
  sessions.destroy_all();
  if (telemetry) telemetry->end();
  return 0;
}

}  // namespace rookery::server

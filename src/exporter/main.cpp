// SPDX-License-Identifier: Apache-2.0
#include "exporter/main.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <thread>

#include "exporter/delivery.h"
#include "log/log.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/seccomp.h"
#include "util/embedded.h"

namespace rookery::exporter {

namespace {

// warden/handover.h; the exporter links no warden code.
constexpr int kChannel = 3;
constexpr uid_t kUid = 101;

constexpr const char* kCertificates = "/certificates.pem";

// A file of the machine at another place of the new root, read-only. Left out where the machine has none.
void show(const std::string& from, const std::string& to) {
  if (!std::filesystem::exists(from)) return;
  const sys::UniqueFd file(sys::check(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), "create " + to));
  sys::bind(from, to, false);
}

// What it takes to find a host by name and to check its certificate; nothing else.
void enter_small_root(const util::Settings& settings) {
  const std::string root = "./exporter";  // it is started in the warden's root
  sys::make_private();
  sys::mount_fs("tmpfs", root, MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k,nr_inodes=16");
  sys::check(::mkdir((root + "/etc").c_str(), 0755), "make the exporter's /etc");
  for (const char* name : {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf"}) show(name, root + name);
  show(settings.telemetry_certificates, root + kCertificates);
  sys::restrict_mount(root, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, true);
  sys::enter_root(root);
}

// The order is the security property: what a step needs goes in a later one.
void give_up_privileges(const util::Settings& settings) {
  enter_small_root(settings);
  const uid_t uid = settings.weaker.shared_uid ? 0 : kUid;
  sys::take_ids(uid, uid);
  sys::keep_only_capabilities({});
  sys::set_no_new_privileges();
  sys::check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "set the parent-death signal");
  sys::check(::prctl(PR_SET_DUMPABLE, 0), "make the process not dumpable");
  sys::verify_dropped({});
  const sys::SeccompFilter filter = sys::SeccompFilter::compile(util::embedded_file("policy/seccomp/exporter.json"));
  if (const int error = filter.load(); error != 0) {
    errno = error;
    sys::throw_errno("load the exporter's seccomp filter");
  }
  if (::unshare(CLONE_NEWUSER) == 0 || errno != EPERM) throw std::logic_error("the exporter's seccomp filter is not in force");
}

}  // namespace

int exporter_main(const util::Settings& settings) {
  sys::check(::prctl(PR_SET_NAME, "exporter"), "name the process");
  // Its end is the end of its channel, so that what the others tell last still goes out.
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  log::start(settings, "exporter");
  give_up_privileges(settings);

  Collector collector({util::parse_otlp_endpoint(settings.telemetry_endpoint).value(),
                       util::parse_otlp_headers(settings.telemetry_headers).value(), kCertificates});
  RecordQueue queue;
  Delivery delivery(queue, {settings.telemetry_service_name, settings.environment, ROOKERY_VERSION},
                    [&collector](telemetry::Signal signal, const std::string& body) { return collector.post(signal, body); });
  delivery.on_counts = [&delivery] { telemetry::tell(kChannel, delivery.counts()); };
  log::info("exporter started", {{"endpoint", settings.telemetry_endpoint}});
  std::thread sender([&delivery] { delivery.run(); });
  RecordQueue::Clock::time_point told;
  while (auto arrival = telemetry::receive(kChannel)) {
    const telemetry::Signal signal = arrival->signal;
    const std::uint64_t count = arrival->count;
    if (queue.push(std::move(*arrival))) continue;
    delivery.count_dropped(signal, count);
    // A batch that is tried for minutes brings no news meanwhile.
    const auto now = RecordQueue::Clock::now();
    if (now - told > std::chrono::seconds(1)) {
      delivery.on_counts();
      told = now;
    }
  }
  queue.close();
  sender.join();
  return 0;
}

}  // namespace rookery::exporter

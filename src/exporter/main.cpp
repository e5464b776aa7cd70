// SPDX-License-Identifier: Apache-2.0
#include "exporter/main.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <thread>

#include "exporter/delivery.h"
#include "log/log.h"
#include "sys/confinement.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/unique_fd.h"
#include "telemetry/channel.h"
#include "telemetry/export_counts.h"
#include "util/embedded.h"
#include "wire/children.h"

namespace rookery::exporter {

namespace {

// The program was loaded in the default image, where its libraries are; its own root, which the warden made
// (warden/exporter_process.h), stands beside that in the warden's.
void enter_wardens_root() {
  const sys::UniqueFd root(wire::kExporterWardensRoot);
  sys::check(::fchdir(root.get()), "go to the warden's root");
  sys::check(::chroot("."), "chroot to the warden's root");
}

// The order is the security property: what a step needs goes in a later one.
void give_up_privileges(const util::Settings& settings) {
  enter_wardens_root();
  const uid_t uid = settings.weaker.shared_uid ? 0 : wire::kExporterUid;
  sys::take_ids(uid, uid);  // looks into /proc, which its own root has not
  sys::enter_root("exporter");
  sys::confine({}, util::embedded_file("policy/seccomp/exporter.json"));
}

}  // namespace

int exporter_main(const util::Settings& settings) {
  sys::check(::prctl(PR_SET_NAME, "exporter"), "name the process");
  // Its end is the end of its channel, so that what the others tell last still goes out.
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGPIPE}) ::signal(signal, SIG_IGN);
  log::start(settings, "exporter");
  give_up_privileges(settings);

  telemetry::ExportCounts& counts = telemetry::map_export_counts(sys::UniqueFd(wire::kExporterCounts).get());
  Collector collector({util::parse_otlp_endpoint(settings.telemetry_endpoint).value(),
                       util::parse_otlp_headers(settings.telemetry_headers).value(), wire::kExporterCertificates});
  RecordQueue queue;
  Delivery delivery(queue, {settings.telemetry_service_name, settings.environment, ROOKERY_VERSION}, counts,
                    [&collector](telemetry::Signal signal, const std::string& body) { return collector.post(signal, body); });
  log::info("exporter started", {{"endpoint", settings.telemetry_endpoint}});
  std::thread sender([&delivery] { delivery.run(); });
  while (auto arrival = telemetry::receive(wire::kExporterChannel)) {
    const telemetry::Signal signal = arrival->signal;
    const std::uint64_t count = arrival->count;
    counts.add(&telemetry::ExportCounts::received, signal, count);
    if (!queue.push(std::move(*arrival))) counts.add(&telemetry::ExportCounts::dropped, signal, count);
  }
  queue.close();
  sender.join();
  return 0;
}

}  // namespace rookery::exporter

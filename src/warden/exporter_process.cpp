// SPDX-License-Identifier: Apache-2.0
#include "warden/exporter_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "log/log.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/socket.h"
#include "warden/handover.h"
#include "warden/role.h"
#include "wire/children.h"

namespace rookery::warden {

namespace {

constexpr int kLastMomentsMs = 7000;  // a little more than the exporter takes for itself (exporter/delivery.h)
constexpr unsigned kMaxRetrySeconds = 60;
constexpr std::chrono::seconds kLasting{60};  // one that ran so long makes its forerunners' failures forgotten

// A file of the machine at another place, read-only. Left out where the machine has none.
void show(const std::string& from, const std::string& to) {
  if (!std::filesystem::exists(from)) return;
  const sys::UniqueFd file(sys::check(::open(to.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), "create " + to));
  sys::bind(from, to, false);
}

void make_root(const std::string& root, const std::string& certificates) {
  sys::mount_fs("tmpfs", root, MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=755,size=64k,nr_inodes=16");
  sys::check(::mkdir((root + "/etc").c_str(), 0755), "make the exporter's /etc");
  for (const char* name : {"/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/gai.conf"}) show(name, root + name);
  show(certificates, root + wire::kExporterCertificates);
  sys::restrict_mount(root, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC, true);
}

// In the child. The machine's files are gone from sight, so the program is loaded where a jail's programs find their libraries;
// it goes to its own root, and gives the rest up, itself.
[[noreturn]] void become_exporter(const std::string& headers, int channel, int counts) noexcept {
  constexpr const char* kLibraries = "/image/default";  // warden/trees.h
  // The child's own copy of it: a descriptor from before the clone would be of the warden's mount namespace.
  const int root = ::open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
  // The one process that gets the headers.
  if (root < 0 || ::chroot(kLibraries) != 0 || ::setenv("TELEMETRY_OTLP_HEADERS", headers.c_str(), 1) != 0) ::_exit(70);
  become_role(kExporterTitle, {channel, counts, root});
  ::_exit(70);
}

}  // namespace

ExporterProcess::ExporterProcess(const util::Settings& settings, const std::string& trees)
    : settings_(settings), shared_(telemetry::make_export_counts()), counts_(telemetry::map_export_counts(shared_.get())) {
  make_root(trees + "/exporter", settings.telemetry_certificates);
  auto [here, there] = sys::seqpacket_pair();
  sender_.emplace(std::move(here), counts_);
  exporters_end_ = std::move(there);
}

void ExporterProcess::follow_log() {
  log::observe([this](const log::Record& record) { sender_->send(telemetry::Signal::kLogs, telemetry::log_json(record, std::chrono::system_clock::now())); });
}

void ExporterProcess::start(Poller& poller, std::uint64_t tag) {
  sys::Cloned fresh = sys::clone_process(CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS);
  if (fresh.pid == 0) become_exporter(settings_.telemetry_headers, exporters_end_.get(), shared_.get());
  process_ = std::move(fresh);
  started_ = Clock::now();
  poller.add(process_.pidfd.get(), tag);
}

void ExporterProcess::on_end(Poller& poller) {
  poller.remove(process_.pidfd.get());
  process_ = {};
  counts_.drop_what_was_received();
  if (Clock::now() - started_ > kLasting) failures_ = 0;
  const unsigned seconds = std::min(1u << std::min(failures_, 6u), kMaxRetrySeconds);
  ++failures_;
  retry_at_ = Clock::now() + std::chrono::seconds(seconds);
  log::warning("the exporter ended unexpectedly; another is started", {{"in_seconds", std::int64_t{seconds}}});
}

void ExporterProcess::on_timer(Poller& poller, std::uint64_t tag) {
  if (running() || Clock::now() < retry_at_) return;
  try {
    start(poller, tag);
    ++restarts_;
  } catch (const std::exception& error) {
    retry_at_ = Clock::now() + std::chrono::seconds(kMaxRetrySeconds);
    log::warning("no exporter can be started", {{"error", error.what()}, {"in_seconds", std::int64_t{kMaxRetrySeconds}}});
  }
}

int ExporterProcess::timeout_ms() const {
  if (running()) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(retry_at_ - Clock::now()).count();
  return static_cast<int>(std::max<std::int64_t>(0, left));
}

void ExporterProcess::finish() noexcept {
  log::observe(nullptr);
  sender_.reset();
  if (!running()) return;
  pollfd ended{process_.pidfd.get(), POLLIN, 0};
  if (::poll(&ended, 1, kLastMomentsMs) <= 0) sys::signal_process(process_.pidfd.get(), SIGKILL);
  sys::reap(process_.pidfd.get());
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#include "server/session.h"

#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "server/counters.h"
#include "sys/error.h"

namespace rookery::server {

double posix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Session::Session(Lease lease, std::string tenant, std::uint32_t idle_timeout_s, std::uint32_t max_lifetime_s)
    : id_(lease.session_id),
      tenant_(std::move(tenant)),
      image_(lease.image),
      lease_(lease.number),
      cancel_(sys::check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      created_at_(posix_now()),
      last_activity_at_(created_at_),
      idle_timeout_s_(idle_timeout_s),
      max_lifetime_s_(max_lifetime_s) {
  jail.take(std::move(lease));
  workspace_.reset(sys::check(::fcntl(jail.workspace.get(), F_DUPFD_CLOEXEC, 0), "keep the workspace"));
  jail.workspace.reset();
  // The cgroup stays the same as well.
  memory_usage_ = std::move(jail.memory_usage);
  pids_current_ = std::move(jail.pids_current);
}

contract::SessionHandle Session::handle() const {
  return {id_, created_at_, last_activity_at_, idle_timeout_s_, max_lifetime_s_, image_};
}

std::uint64_t Session::memory_bytes() const noexcept { return read_number(memory_usage_.get()); }
std::uint64_t Session::processes() const noexcept { return read_number(pids_current_.get()); }

contract::SessionStatus Session::status(const util::Settings& settings) const {
  contract::SessionStatus status{handle(), queue.busy() ? "running" : "idle", calls, memory_bytes(), processes(), std::nullopt};
  struct statvfs files{};
  // A plain directory has no size of its own that could be had without reading all of it.
  if (!settings.workspace_on_disk && ::fstatvfs(workspace(), &files) == 0) {
    status.workspace_bytes = (files.f_blocks - files.f_bfree) * files.f_frsize;
  }
  return status;
}

void Session::touch() { last_activity_at_ = posix_now(); }

double Session::expires_at() const {
  if (active_ > 0) return std::numeric_limits<double>::infinity();
  return std::min(last_activity_at_ + idle_timeout_s_, created_at_ + max_lifetime_s_);
}

void Session::close() {
  closed_ = true;
  queue.close();
  ::eventfd_write(cancel_.get(), 1);
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/session.h"

#include <fcntl.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <limits>

#include "sys/error.h"

namespace rookery::server {

double posix_now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

Session::Session(Lease lease, std::uint32_t idle_timeout_s, std::uint32_t max_lifetime_s)
    : id_(lease.session_id),
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
}

contract::SessionHandle Session::handle() const {
  return {id_, created_at_, last_activity_at_, idle_timeout_s_, max_lifetime_s_, image_};
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

// SPDX-License-Identifier: Apache-2.0
#include "warden/poller.h"

#include <cerrno>

#include "sys/error.h"

namespace rookery::warden {

Poller::Poller() : epoll_(sys::check(::epoll_create1(EPOLL_CLOEXEC), "epoll_create1")) {}

void Poller::add(int fd, std::uint64_t tag, std::uint32_t events) {
  epoll_event event{};
  event.events = events;
  event.data.u64 = tag;
  sys::check(::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &event), "epoll_ctl");
}

void Poller::remove(int fd) noexcept { ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr); }

std::vector<std::uint64_t> Poller::wait(int timeout_ms) {
  epoll_event events[64];
  const int count = ::epoll_wait(epoll_.get(), events, 64, timeout_ms);
  if (count < 0 && errno != EINTR) sys::throw_errno("epoll_wait");
  std::vector<std::uint64_t> tags;
  for (int i = 0; i < count; ++i) tags.push_back(events[i].data.u64);
  return tags;
}

}  // namespace rookery::warden

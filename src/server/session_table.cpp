// SPDX-License-Identifier: Apache-2.0
#include "server/session_table.h"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "log/log.h"

namespace rookery::server {

namespace {

std::uint32_t lowered(const std::optional<std::uint64_t>& hint, std::uint32_t otherwise, std::uint32_t most) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(hint.value_or(otherwise), most));
}

}  // namespace

SessionTable::SessionTable(const util::Settings& settings, WardenClient& warden, ServerMetrics& metrics)
    : settings_(settings), warden_(warden), metrics_(metrics), reaper_([this] { reap(); }) {}

SessionTable::~SessionTable() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  reaper_.join();
  destroy_all();
}

std::shared_ptr<Session> SessionTable::create(const contract::CreateSessionRequest& request, std::string_view tenant) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || draining_ || reserved_ >= settings_.max_sessions) return nullptr;
    ++reserved_;
  }
  try {
    Lease lease = warden_.lease(util::image_index(settings_, request.image));
    const std::uint64_t number = lease.number;
    const std::uint32_t lifetime = lowered(request.max_lifetime_seconds, settings_.session_max_lifetime_s, settings_.session_max_lifetime_s);
    const std::uint32_t idle = lowered(request.idle_timeout_seconds, settings_.session_idle_timeout_s, settings_.session_max_lifetime_s);
    std::shared_ptr<Session> session;
    try {
      session = std::make_shared<Session>(std::move(lease), std::string(tenant), idle, lifetime);
    } catch (...) {
      warden_.release(number);
      throw;
    }
    {
      const std::lock_guard lock(mutex_);
      sessions_.emplace(session->id(), session);
    }
    changed_.notify_all();
    metrics_.sessions_created.add();
    log::info("session created", {{"session_id", log::shortened(session->id())}});
    return session;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --reserved_;
    throw;
  }
}

std::shared_ptr<Session> SessionTable::find(std::string_view id, std::string_view tenant) const {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() || found->second->tenant() != tenant ? nullptr : found->second;
}

bool SessionTable::destroy(std::string_view id, std::string_view tenant) {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end() || found->second->tenant() != tenant) return false;
    session = std::move(found->second);
    sessions_.erase(found);
  }
  end(session, "deleted");
  return true;
}

void SessionTable::end(const std::shared_ptr<Session>& session, std::string_view reason) {
  session->close();
  try {
    warden_.release(session->lease());
  } catch (const std::exception& error) {
    log::error("a session could not be released", {{"session_id", log::shortened(session->id())}, {"error", error.what()}});
  }
  metrics_.sessions_ended.add(reason);
  metrics_.session_lifetime.observe(std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(session->age())));
  log::info("session ended", {{"session_id", log::shortened(session->id())}, {"reason", reason}, {"lifetime_s", session->age()}});
  const std::lock_guard lock(mutex_);
  --reserved_;
}

std::size_t SessionTable::count() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
}

SessionTable::Page SessionTable::list(std::uint64_t after, std::size_t limit, std::optional<std::string_view> tenant) const {
  std::vector<std::shared_ptr<Session>> found;
  {
    const std::lock_guard lock(mutex_);
    for (const auto& [id, session] : sessions_) {
      if (session->lease() > after && (!tenant || session->tenant() == *tenant)) found.push_back(session);
    }
  }
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a->lease() < b->lease(); });
  Page page;
  if (found.size() > limit) {
    page.next = found[limit - 1]->lease();
    found.resize(limit);
  }
  page.sessions = std::move(found);
  return page;
}

void SessionTable::drain() {
  {
    const std::lock_guard lock(mutex_);
    if (std::exchange(draining_, true)) return;
  }
  log::warning("draining: no new sessions from now on");
}

bool SessionTable::draining() const {
  const std::lock_guard lock(mutex_);
  return draining_;
}

void SessionTable::destroy_all() {
  std::vector<std::shared_ptr<Session>> all;
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
    for (auto& [id, session] : sessions_) all.push_back(session);
    sessions_.clear();
  }
  for (const auto& session : all) session->close();
  for (const auto& session : all) end(session, "shutdown");
}

void SessionTable::reap() {
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const double now = posix_now();
    // A session in use tells nobody when it stops being so: look again after the interval.
    double next = now + settings_.session_gc_interval_s;
    std::vector<std::shared_ptr<Session>> expired;
    for (auto entry = sessions_.begin(); entry != sessions_.end();) {
      const double at = entry->second->expires_at();
      if (at <= now) {
        expired.push_back(std::move(entry->second));
        entry = sessions_.erase(entry);
        continue;
      }
      next = std::min(next, at);
      ++entry;
    }
    if (!expired.empty()) {
      lock.unlock();
      for (const auto& session : expired) {
        end(session, session->age() >= session->handle().max_lifetime_seconds ? "lifetime" : "idle");
      }
      lock.lock();
      continue;
    }
    if (sessions_.empty()) {
      changed_.wait(lock);
    } else {
      changed_.wait_for(lock, std::chrono::duration<double>(std::max(0.001, next - now)));
    }
  }
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/session_table.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "server/log.h"

namespace rookery::server {

namespace {

std::uint32_t lowered(const std::optional<std::uint64_t>& hint, std::uint32_t otherwise, std::uint32_t most) {
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(hint.value_or(otherwise), most));
}

}  // namespace

SessionTable::SessionTable(const util::Settings& settings, WardenClient& warden)
    : settings_(settings), warden_(warden), reaper_([this] { reap(); }) {}

SessionTable::~SessionTable() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
  reaper_.join();
  destroy_all();
}

std::shared_ptr<Session> SessionTable::create(const contract::CreateSessionRequest& request) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || reserved_ >= settings_.max_sessions) return nullptr;
    ++reserved_;
  }
  try {
    Lease lease = warden_.lease(request.image);
    const std::uint64_t number = lease.number;
    const std::uint32_t lifetime = lowered(request.max_lifetime_seconds, settings_.session_max_lifetime_s, settings_.session_max_lifetime_s);
    const std::uint32_t idle = lowered(request.idle_timeout_seconds, settings_.session_idle_timeout_s, settings_.session_max_lifetime_s);
    std::shared_ptr<Session> session;
    try {
      session = std::make_shared<Session>(std::move(lease), idle, lifetime);
    } catch (...) {
      warden_.release(number);
      throw;
    }
    {
      const std::lock_guard lock(mutex_);
      sessions_.emplace(session->id(), session);
    }
    changed_.notify_all();
    return session;
  } catch (...) {
    const std::lock_guard lock(mutex_);
    --reserved_;
    throw;
  }
}

std::shared_ptr<Session> SessionTable::find(std::string_view id) const {
  const std::lock_guard lock(mutex_);
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second;
}

bool SessionTable::destroy(std::string_view id) {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    const auto found = sessions_.find(id);
    if (found == sessions_.end()) return false;
    session = std::move(found->second);
    sessions_.erase(found);
  }
  end(session);
  return true;
}

void SessionTable::end(const std::shared_ptr<Session>& session) {
  session->close();
  try {
    warden_.release(session->lease());
  } catch (const std::exception& error) {
    log_error(std::string("a session could not be released: ") + error.what());
  }
  const std::lock_guard lock(mutex_);
  --reserved_;
}

std::size_t SessionTable::count() const {
  const std::lock_guard lock(mutex_);
  return sessions_.size();
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
  for (const auto& session : all) end(session);
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
        log_event("session expired", session->id());
        end(session);
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

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contract/types.h"
#include "server/server_metrics.h"
#include "server/session.h"
#include "server/warden_client.h"
#include "util/settings.h"

namespace rookery::server {

// All live sessions. Thread-safe.
class SessionTable {
 public:
  SessionTable(const util::Settings& settings, WardenClient& warden, ServerMetrics& metrics);
  // Ends all sessions.
  ~SessionTable();
  SessionTable(const SessionTable&) = delete;
  SessionTable& operator=(const SessionTable&) = delete;

  // Leases a session; the hints are lowered to the operator's limits. nullptr when max_sessions exist already or while draining.
  // Throws std::runtime_error when the warden cannot give one.
  std::shared_ptr<Session> create(const contract::CreateSessionRequest& request, std::string_view tenant);
  // To another tenant than its own a session is not there.
  [[nodiscard]] std::shared_ptr<Session> find(std::string_view id, std::string_view tenant) const;
  // Returns when its processes are dead and its files gone. False when there was no such session.
  bool destroy(std::string_view id, std::string_view tenant);
  [[nodiscard]] std::size_t count() const;
  // Sessions in the order of their making, from behind the lease `after` on, at most `limit`.
  struct Page {
    std::vector<std::shared_ptr<Session>> sessions;
    std::optional<std::uint64_t> next;  // `after` for the rest, if there is one
  };
  // `tenant`: whose; nullopt for all.
  [[nodiscard]] Page list(std::uint64_t after, std::size_t limit, std::optional<std::string_view> tenant = std::nullopt) const;
  // From now on create() gives none; those that exist live on. There is no way back but a new start.
  void drain();
  [[nodiscard]] bool draining() const;
  void destroy_all();

 private:
  void end(const std::shared_ptr<Session>& session, std::string_view reason);
  void reap();

  const util::Settings& settings_;
  WardenClient& warden_;
  ServerMetrics& metrics_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::shared_ptr<Session>, std::less<>> sessions_;
  std::size_t reserved_ = 0;  // sessions that exist, are being made or are being ended
  bool draining_ = false;
  bool stopping_ = false;
  std::thread reaper_;
};

}  // namespace rookery::server

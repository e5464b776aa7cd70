// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>

#include "contract/types.h"
#include "server/call_queue.h"
#include "server/editor/editor.h"
#include "server/files/workspace_snapshot.h"
#include "server/jail_link.h"
#include "util/settings.h"

namespace rookery::server {

// POSIX seconds with a fraction.
[[nodiscard]] double posix_now();

// One leased session. Kept alive by whoever works on it; once closed, work on it ends soon.
class Session {
 public:
  // `tenant`: whose it is; empty where tenants are not told apart.
  Session(Lease lease, std::string tenant, std::uint32_t idle_timeout_s, std::uint32_t max_lifetime_s);

  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const std::string& tenant() const noexcept { return tenant_; }
  [[nodiscard]] contract::SessionHandle handle() const;
  // As it is now, for operators.
  [[nodiscard]] contract::SessionStatus status(const util::Settings& settings) const;
  // Bytes that its cgroup is charged for; 0 when they cannot be read.
  [[nodiscard]] std::uint64_t memory_bytes() const noexcept;
  // Processes and threads in its cgroup.
  [[nodiscard]] std::uint64_t processes() const noexcept;

  // Marks activity for as long as it lives: a session with one is not reaped.
  class Activity {
   public:
    explicit Activity(Session& session) : session_(session) { ++session_.active_; }
    ~Activity() {
      session_.touch();
      --session_.active_;
    }
    Activity(const Activity&) = delete;
    Activity& operator=(const Activity&) = delete;

   private:
    Session& session_;
  };

  // Seconds since it was leased.
  [[nodiscard]] double age() const { return posix_now() - created_at_; }
  // When the session may be reaped, as POSIX seconds; infinity while it is in use.
  [[nodiscard]] double expires_at() const;

  // Ends it for everyone: no call enters any more, a running one is told through cancel_fd().
  void close();
  [[nodiscard]] bool closed() const noexcept { return closed_; }
  // Readable once the session is closed.
  [[nodiscard]] int cancel_fd() const noexcept { return cancel_.get(); }

  std::atomic<std::uint64_t> calls = 0;  // tool calls that began

  CallQueue queue;
  // For the holder of the queue only:
  JailLink jail;
  Editor editor;
  // Thread-safe by themselves:
  WorkspaceSnapshot snapshot;
  // /workspace; the same for the whole life of the session, whatever happens to its jail.
  [[nodiscard]] int workspace() const noexcept { return workspace_.get(); }
  [[nodiscard]] std::uint64_t lease() const noexcept { return lease_; }

 private:
  void touch();

  std::string id_;
  std::string tenant_;
  std::string image_;
  std::uint64_t lease_;
  sys::UniqueFd workspace_;
  sys::UniqueFd memory_usage_, pids_current_;
  sys::UniqueFd cancel_;
  double created_at_;
  std::atomic<double> last_activity_at_;
  std::atomic<int> active_ = 0;
  std::atomic<bool> closed_ = false;
  std::uint32_t idle_timeout_s_;
  std::uint32_t max_lifetime_s_;
};

}  // namespace rookery::server

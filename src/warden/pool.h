// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "warden/demand.h"
#include "warden/jail_process.h"
#include "warden/poller.h"
#include "warden/zygotes.h"
#include "wire/message.h"

namespace rookery::warden {

// All jails of the warden, by slot: built ahead of demand, leased, ended. Never waits for a jail; everything that
// takes time is an event of the poller. Answers go through `Answers`, in whatever order they become due.
class Pool {
 public:
  class Answers {
   public:
    virtual ~Answers() = default;
    virtual void leased(std::uint64_t nonce, wire::Type type, std::uint64_t lease, const JailProcess& jail) = 0;
    virtual void answer(std::uint64_t nonce, wire::Type type, std::uint64_t lease) = 0;
    virtual void failed(std::uint64_t nonce, const std::string& why) = 0;
  };

  // `recipe`: for the zygote of fork mode; nullopt for exec mode.
  Pool(const JailContext& context, Poller& poller, Answers& answers, std::optional<ZygoteRecipe> recipe);

  // Requests of the server. Each is answered once, with its nonce.
  void lease(std::uint64_t nonce);
  void rebuild(std::uint64_t nonce, std::uint64_t lease);  // ends the jail and builds it anew on the same files
  void release(std::uint64_t nonce, std::uint64_t lease);
  // Starts a new interpreter in a leased jail; the server's end of its channel. Throws std::system_error.
  sys::UniqueFd restart_interpreter(JailProcess& jail);
  [[nodiscard]] JailProcess* leased(std::uint64_t lease) noexcept;  // nullptr unless it is leased and stays so

  // Whether the first zygote is still importing; jails that are built meanwhile get exec'd interpreters.
  [[nodiscard]] bool warming_up() const noexcept { return zygotes_ && zygotes_->starting(); }
  // Builds ahead what is missing. Between requests that follow each other closely it is put off, because whoever leases a
  // session calls it next and the processors are his then; so is the clearing away of released sessions.
  void refill();
  // Ends all jails; done() once none is left.
  void shut_down() noexcept;
  [[nodiscard]] bool done() const noexcept { return count_ == 0 && stale_cgroups_.empty(); }

  // An event whose tag is one of tag().
  void on_event(std::uint64_t tag);
  // Milliseconds until on_timer() wants to be called; -1: no need.
  [[nodiscard]] int timeout_ms() const;
  void on_timer();

  [[nodiscard]] bool nested() const noexcept { return context_.nested; }
  [[nodiscard]] std::uint32_t ready() const noexcept { return static_cast<std::uint32_t>(ready_.size()); }
  [[nodiscard]] std::uint32_t zygote_starts() const noexcept { return zygotes_ ? zygotes_->starts() : 0; }
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }
  [[nodiscard]] const std::string& last_failure() const noexcept { return last_failure_; }
  void forget_failures() noexcept {
    last_failure_.clear();
    failures_in_a_row_ = 0;
  }
  [[nodiscard]] bool had_success() const noexcept { return had_success_; }

 private:
  struct Request {
    std::uint64_t nonce;
    wire::Type type;
  };
  struct Slot {
    std::unique_ptr<JailProcess> jail;
    std::optional<Request> pending;  // a rebuild or release that waits for the jail's end, or a rebuild for its start
    bool leased = false;
    std::uint64_t lease = 0;  // its number while it is leased
  };
  [[nodiscard]] Slot* find(std::uint64_t lease) noexcept;

  void build(std::uint32_t slot);
  void watch(JailProcess& jail);
  void unwatch(const JailProcess& jail) noexcept;
  void supply_interpreter(JailProcess& jail);
  void on_forked(const ZygoteProcess::Forked& forked);
  void on_ready(Slot& slot);
  void on_end(std::uint32_t index);
  void fail_start(std::uint32_t index, const std::string& why);
  void finish_release(std::uint32_t index);
  void drop(std::uint32_t index) noexcept;
  void serve_waiting();
  void postpone() noexcept;
  void do_chores();
  void dismiss_surplus() noexcept;

  const JailContext& context_;
  Poller& poller_;
  Answers& answers_;
  std::optional<Zygotes> zygotes_;
  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
  std::deque<std::uint32_t> ready_;
  std::deque<std::uint64_t> waiting_;  // leases
  std::vector<std::uint32_t> over_;  // slots to be dropped
  std::vector<std::uint32_t> stale_cgroups_;
  Demand demand_;
  std::optional<Demand::Clock::time_point> chores_due_;
  std::uint64_t last_lease_ = 0;
  std::uint32_t count_ = 0;
  std::uint32_t starting_ = 0;
  std::uint32_t failures_in_a_row_ = 0;
  bool had_success_ = false;
  bool shutting_down_ = false;
  std::string node_;
  std::string last_failure_;
};

}  // namespace rookery::warden

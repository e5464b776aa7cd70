// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <string_view>
#include <utility>

#include "contract/types.h"
#include "server/output_pipe.h"
#include "server/session.h"
#include "server/warden_client.h"
#include "sys/cpu_pin.h"
#include "util/settings.h"

namespace rookery::server {

// One run of Python or bash in a session's jail, from the request to its outcome. It polls the jail's pipes and
// channels itself, in the caller's thread, which holds the session's queue. Whatever the jail does, run() ends a few seconds
// after the deadline at the latest: everything here is bounded in time and memory.
class JailCall {
 public:
  // `pin`: as in http::Request; outlives the call.
  JailCall(const util::Settings& settings, WardenClient& warden, Session& session, int client_fd, sys::CpuPin* pin);

  // To be told of the program's output as it comes.
  void listen(OutputPipe::Listener to_stdout, OutputPipe::Listener to_stderr) {
    out_.listen(std::move(to_stdout));
    err_.listen(std::move(to_stderr));
  }

  // `timeout`: how long the program may run. Throws std::runtime_error when no jail can be had.
  contract::CallOutcome run(contract::Tool tool, std::string_view source, std::chrono::seconds timeout);

  // What the log and the metrics tell of a call that run() returned from.
  struct Report {
    std::string_view ending;  // "ok", "error", "limit", "timeout", "crashed", "cancelled" or "client_gone"
    bool seccomp_kill = false;         // bash or the interpreter ended by SIGSYS, as it does when the filter kills
    unsigned forged_messages = 0;      // from the jail, that answer nothing: a program in there writes into our channels
    unsigned interpreter_restarts = 0;
    unsigned jail_rebuilds = 0;
  };
  [[nodiscard]] Report report(const contract::CallOutcome& outcome) const noexcept;

 private:
  using Clock = std::chrono::steady_clock;

  // Why the call is over; the first one counts.
  enum class End { kNone, kFinished, kInterpreterEnded, kJailEnded, kTimeout, kCpu, kCancelled, kClientGone };

  bool prepare(Clock::time_point deadline);
  bool start(std::string_view source);
  [[nodiscard]] bool send(std::string_view source);
  End wait(Clock::time_point deadline, bool watch_cpu);
  void stop_program(bool interrupt_first);
  bool end_processes(wire::EndScope scope);
  void read_init();
  void read_repl();
  void drain_pipes();
  void linger();
  void end_brief_part();
  int next_wait_ms(Clock::time_point deadline, bool watch_cpu);
  bool over_cpu_budget();
  [[nodiscard]] std::uint64_t cpu_budget_us() const noexcept;
  void set_next_cpu_check(std::uint64_t used_us);
  void make_room(contract::CallOutcome& outcome);
  void restart_later();
  void rebuild_jail();
  void describe(contract::CallOutcome& outcome, std::chrono::seconds timeout);
  void describe_death(contract::CallOutcome& outcome);
  [[nodiscard]] std::string_view ending(const contract::CallOutcome& outcome) const noexcept;
  contract::Limit limit_met();

  const util::Settings& settings_;
  WardenClient& warden_;
  Session& session_;
  JailLink& jail_;
  int client_fd_;
  sys::CpuPin* pin_;
  contract::Tool tool_{};
  std::uint64_t nonce_ = 0;
  OutputPipe out_, err_;
  End end_ = End::kNone;
  bool finished_ = false;        // the program's own end is known
  bool interpreter_ended_ = false;
  bool processes_ended_ = false;  // the init's answer to kEndProcesses has come
  bool left_over_ = false;        // bash left processes behind
  bool output_cut_ = false;
  int status_ = 0;                // wait status of bash or of an interpreter that ended
  std::int32_t return_code_ = 0;
  unsigned forged_messages_ = 0, interpreter_restarts_ = 0, jail_rebuilds_ = 0;
  std::uint32_t error_number_ = 0;  // errno of an uncaught OSError
  bool brief_ = true;  // it runs for a moment only, and prints little, so far
  Clock::time_point brief_until_;
  std::uint64_t cpu_at_start_ = 0, oom_at_start_ = 0, pids_at_start_ = 0;
  Clock::time_point next_cpu_check_;
};

}  // namespace rookery::server

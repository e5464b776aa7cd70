// SPDX-License-Identifier: Apache-2.0
#include "server/jail_call.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>

#include "log/log.h"
#include "server/counters.h"
#include "sys/socket.h"
#include "util/random.h"

namespace rookery::server {

namespace {

using std::chrono::milliseconds;
using namespace std::chrono_literals;

constexpr auto kInterruptGrace = 1s;      // for a program to come back after SIGINT
constexpr auto kEndProcessesGrace = 3s;   // for the init to end processes; then the jail goes
constexpr auto kInterpreterStart = 30s;
constexpr auto kLingerQuiet = 20ms;       // output of what bash left running: until it pauses this long ...
constexpr auto kLingerMost = 100ms;       // ... and never longer than this
constexpr auto kDeathNotice = 1s;         // between the closing of a channel and the news why
constexpr int kReadsPerTurn = 16;
// A call that takes longer, or prints more, is not brief: its processor time counts, and server and interpreter have things to do
// at the same time, so no longer take turns on one processor.
constexpr auto kBrief = 2ms;
constexpr std::uint64_t kBriefOutput = 16 * 1024;  // bytes

int poll_ms(std::chrono::steady_clock::duration left) {
  return static_cast<int>(std::clamp<std::int64_t>(std::chrono::ceil<milliseconds>(left).count(), 0, 3'600'000));
}

}  // namespace

JailCall::JailCall(const util::Settings& settings, WardenClient& warden, Session& session, int client_fd, sys::CpuPin* pin)
    : settings_(settings),
      warden_(warden),
      session_(session),
      jail_(session.jail),
      client_fd_(client_fd),
      pin_(pin),
      nonce_(util::random_u64()),
      out_(jail_.out, settings.max_output_bytes),
      err_(jail_.err, settings.max_output_bytes) {}

contract::CallOutcome JailCall::run(contract::Tool tool, std::string_view source, std::chrono::seconds timeout) {
  tool_ = tool;
  const auto started = Clock::now();
  bool variables_lost_before = !prepare(started + kInterpreterStart);
  contract::CallOutcome outcome;
  if (session_.closed()) {
    end_ = End::kCancelled;
  } else {
    if (!start(source)) variables_lost_before = true;
    const auto deadline = Clock::now() + timeout;
    end_ = wait(deadline, true);
    if (end_ == End::kTimeout || end_ == End::kCpu || end_ == End::kClientGone) stop_program(tool == contract::Tool::kCodeExecution);
    if (end_ != End::kCancelled) drain_pipes();
    if (end_ == End::kFinished && left_over_) linger();
  }
  outcome.interpreter_restarted = variables_lost_before;
  if (jail_.jail_lost || jail_.repl_lost) outcome.interpreter_restarted = jail_.loss_told = true;
  describe(outcome, timeout);
  make_room(outcome);
  if (jail_.repl_lost && end_ != End::kCancelled) restart_later();
  outcome.execution_time_ms = static_cast<std::uint64_t>(std::chrono::duration_cast<milliseconds>(Clock::now() - started).count());
  return outcome;
}

// False when the variables of earlier calls are gone although no earlier call said so.
bool JailCall::prepare(Clock::time_point deadline) {
  if (!jail_.jail_lost) {
    read_init();  // what happened between the calls
    interpreter_ended_ = false;
    finished_ = false;
  }
  const bool lost = (jail_.jail_lost || jail_.repl_lost) && !jail_.loss_told;
  jail_.loss_told = false;
  if (jail_.jail_lost) {
    rebuild_jail();
  } else if (jail_.repl_lost) {
    restart_later();
  }
  while (tool_ == contract::Tool::kCodeExecution && !jail_.repl_ready && !session_.closed()) {
    pollfd fds[] = {{jail_.repl.get(), POLLIN, 0}, {session_.cancel_fd(), POLLIN, 0}};
    const int ready = ::poll(fds, 2, poll_ms(deadline - Clock::now()));
    if (ready == 0) {
      rebuild_jail();
      break;
    }
    if (fds[0].revents & POLLIN) read_repl();
    if (!jail_.repl_ready && (fds[0].revents & (POLLHUP | POLLERR))) {
      rebuild_jail();  // an interpreter that dies while it starts: the jail itself is in the way
      break;
    }
  }
  return !lost;
}

// False when it took a new jail: nobody read at the other end of the old one any more.
bool JailCall::start(std::string_view source) {
  if (send(source)) return true;
  rebuild_jail();
  if (!send(source)) throw std::runtime_error("a fresh jail does not take the call");
  return false;
}

bool JailCall::send(std::string_view source) {
  brief_until_ = Clock::now() + kBrief;
  oom_at_start_ = read_oom_kills(jail_.memory_events.get());
  pids_at_start_ = read_pids_denied(jail_.pids_events.get());
  if (tool_ != contract::Tool::kCodeExecution) return send_text(jail_.init.get(), wire::Type::kRunBash, nonce_, source);
  if (pin_ != nullptr) pin_->here();
  return send_text(jail_.repl.get(), wire::Type::kRunCode, nonce_, source, pin_ != nullptr ? pin_->cpu() : -1);
}

JailCall::End JailCall::wait(Clock::time_point deadline, bool watch_cpu) {
  bool out_open = true, err_open = true;
  Clock::time_point death_notice{};
  while (true) {
    pollfd fds[] = {{out_open ? out_.fd() : -1, POLLIN, 0},
                    {err_open ? err_.fd() : -1, POLLIN, 0},
                    {death_notice == Clock::time_point{} ? jail_.repl.get() : -1, POLLIN, 0},
                    {jail_.init.get(), POLLIN, 0},
                    {session_.cancel_fd(), POLLIN, 0},
                    {client_fd_, 0, 0}};
    Clock::time_point until = deadline;
    if (death_notice != Clock::time_point{}) until = std::min(until, death_notice);
    if (::poll(fds, 6, next_wait_ms(until, watch_cpu)) < 0 && errno != EINTR) return End::kJailEnded;
    if (brief_ && (Clock::now() >= brief_until_ || out_.total() + err_.total() > kBriefOutput)) end_brief_part();
    if (fds[4].revents != 0) return End::kCancelled;
    if (fds[0].revents != 0) out_open = out_.read(kReadsPerTurn);
    if (fds[1].revents != 0) err_open = err_.read(kReadsPerTurn);
    if (fds[2].revents & POLLIN) read_repl();
    if (fds[3].revents & POLLIN) read_init();
    if (finished_) return End::kFinished;
    if (interpreter_ended_ && tool_ == contract::Tool::kCodeExecution) return End::kInterpreterEnded;
    if ((fds[3].revents & (POLLHUP | POLLERR)) != 0 || jail_.jail_lost) {
      jail_.jail_lost = true;
      return session_.closed() ? End::kCancelled : End::kJailEnded;
    }
    if ((fds[2].revents & (POLLHUP | POLLERR)) && !(fds[2].revents & POLLIN)) death_notice = Clock::now() + kDeathNotice;
    const auto now = Clock::now();
    if (death_notice != Clock::time_point{} && now >= death_notice && tool_ == contract::Tool::kCodeExecution) {
      // It closed its channel and lives on: no answer can come from it any more.
      end_processes(wire::EndScope::kEverything);
      return session_.closed() ? End::kCancelled : End::kInterpreterEnded;
    }
    if (fds[5].revents & (POLLHUP | POLLERR)) return End::kClientGone;
    if (watch_cpu && !brief_ && now >= next_cpu_check_ && over_cpu_budget()) return End::kCpu;
    if (now >= deadline) return End::kTimeout;
  }
}

void JailCall::end_brief_part() {
  brief_ = false;
  if (pin_ != nullptr) pin_->release();
  cpu_at_start_ = read_cpu_us(jail_.cpu_usage.get());
  set_next_cpu_check(0);
}

int JailCall::next_wait_ms(Clock::time_point deadline, bool watch_cpu) {
  if (brief_) return poll_ms(std::min(deadline, brief_until_) - Clock::now());
  return poll_ms((watch_cpu ? std::min(deadline, next_cpu_check_) : deadline) - Clock::now());
}

bool JailCall::over_cpu_budget() {
  const std::uint64_t used = read_cpu_us(jail_.cpu_usage.get()) - cpu_at_start_;
  if (used >= cpu_budget_us()) return true;
  set_next_cpu_check(used);
  return false;
}

std::uint64_t JailCall::cpu_budget_us() const noexcept { return std::uint64_t{settings_.cpu_seconds} * 1'000'000; }

// At full speed the rest of the budget lasts this long: no reason to look earlier.
void JailCall::set_next_cpu_check(std::uint64_t used_us) {
  const auto rest = std::chrono::microseconds((cpu_budget_us() - used_us) * 1000 / std::max(settings_.cpu_millis, 1u));
  next_cpu_check_ = Clock::now() + std::max<std::chrono::microseconds>(rest, 20ms);
}

// Ends the program of a call that is over its time, and everything else that runs in the jail but is not needed.
void JailCall::stop_program(bool interrupt_first) {
  if (!interrupt_first) {
    end_processes(wire::EndScope::kAllButReplTree);
    return;
  }
  wire::Writer interrupt(wire::Type::kInterrupt, nonce_);
  if (sys::send_packet(jail_.init.get(), interrupt.packet())) {
    const End second = wait(Clock::now() + kInterruptGrace, false);
    if (second == End::kCancelled || second == End::kJailEnded) {
      if (second == End::kCancelled) end_ = second;
      if (second == End::kJailEnded) jail_.repl_lost = true;
      return;
    }
    if (finished_) {
      end_processes(wire::EndScope::kAllButRepl);
      return;
    }
  }
  end_processes(wire::EndScope::kEverything);
}

// Asks the init to end processes and waits for it. A jail whose init does not manage is ended by the warden.
bool JailCall::end_processes(wire::EndScope scope) {
  processes_ended_ = false;
  wire::Writer message(wire::Type::kEndProcesses, nonce_);
  message.u32(static_cast<std::uint32_t>(scope));
  const auto deadline = Clock::now() + kEndProcessesGrace;
  if (sys::send_packet(jail_.init.get(), message.packet())) {
    while (!processes_ended_ && !jail_.jail_lost && Clock::now() < deadline) {
      pollfd fds[] = {{jail_.init.get(), POLLIN, 0}, {jail_.out.get(), POLLIN, 0}, {jail_.err.get(), POLLIN, 0},
                      {session_.cancel_fd(), POLLIN, 0}};
      if (::poll(fds, 4, poll_ms(deadline - Clock::now())) < 0 && errno != EINTR) break;
      if (fds[1].revents & POLLIN) out_.read(1);
      if (fds[2].revents & POLLIN) err_.read(1);
      if (fds[0].revents & POLLIN) read_init();
      if (fds[0].revents & (POLLHUP | POLLERR)) jail_.jail_lost = true;
      if (fds[3].revents != 0) {
        end_ = End::kCancelled;
        return false;
      }
    }
  }
  if (!processes_ended_) {
    jail_.jail_lost = true;
    jail_.repl_lost = true;
  }
  return processes_ended_;
}

void JailCall::read_init() {
  std::byte buffer[sizeof(wire::Header) + 4096];
  for (int messages = 0; messages < 64; ++messages) {
    const sys::Received received = sys::receive_packet(jail_.init.get(), buffer);
    if (received.size <= 0) {
      if (received.size == 0) jail_.jail_lost = true;
      return;
    }
    const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
    if (received.truncated || !message) {
      ++forged_messages_;
      continue;
    }
    wire::Reader reader(message->payload);
    switch (message->header.type) {
      case wire::Type::kBashExited: {
        const std::int32_t status = reader.i32();
        const bool left = reader.u32() != 0;
        if (!reader.done() || message->header.nonce != nonce_ || tool_ != contract::Tool::kBashExecution) break;
        status_ = status;
        left_over_ = left;
        finished_ = true;
        break;
      }
      case wire::Type::kReplExited: {
        const std::int32_t status = reader.i32();
        if (!reader.done()) break;
        if (tool_ == contract::Tool::kCodeExecution) status_ = status;
        interpreter_ended_ = true;
        jail_.repl_ready = false;
        jail_.repl_lost = true;
        break;
      }
      case wire::Type::kProcessesEnded: {
        const bool repl_ended = reader.u32() != 0;
        if (!reader.done() || message->header.nonce != nonce_) break;
        processes_ended_ = true;
        if (repl_ended) {
          jail_.repl_ready = false;
          jail_.repl_lost = true;
        }
        break;
      }
      default:
        ++forged_messages_;
        break;
    }
  }
}

void JailCall::read_repl() {
  std::byte buffer[sizeof(wire::Header) + 256];
  // A program may write anything into this channel; what is not the answer to this very call is dropped.
  for (int messages = 0; messages < 64; ++messages) {
    const sys::Received received = sys::receive_packet(jail_.repl.get(), buffer);
    if (received.size <= 0) return;
    const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
    const bool whole = !received.truncated && message.has_value();
    if (whole && message->header.type == wire::Type::kReplReady) {
      jail_.repl_ready = true;
      continue;
    }
    const bool answers = whole && message->header.type == wire::Type::kCodeFinished && message->header.nonce == nonce_;
    wire::Reader reader(answers ? message->payload : std::string_view());
    const std::int32_t code = reader.i32();
    const std::uint32_t error = reader.u32();
    if (!reader.done()) {
      ++forged_messages_;
      continue;
    }
    return_code_ = code;
    error_number_ = error;
    finished_ = true;
    return;
  }
}

void JailCall::drain_pipes() {
  for (int round = 0; round < OutputPipe::kMostReads; ++round) {
    const std::uint64_t before = out_.total() + err_.total();
    out_.read(1);
    err_.read(1);
    if (out_.total() + err_.total() == before) return;
  }
}

// What bash left running may be about to say something (a process substitution, `cmd &`): wait a moment, not for it.
void JailCall::linger() {
  const auto most = Clock::now() + kLingerMost;
  for (;;) {
    pollfd fds[] = {{jail_.out.get(), POLLIN, 0}, {jail_.err.get(), POLLIN, 0}, {session_.cancel_fd(), POLLIN, 0}};
    const auto wait = std::min<Clock::duration>(kLingerQuiet, most - Clock::now());
    if (wait <= Clock::duration::zero() || ::poll(fds, 3, poll_ms(wait)) <= 0) return;
    if (!((fds[0].revents | fds[1].revents) & POLLIN)) return;
    drain_pipes();
  }
}

// A call that failed at the session's memory or process limit: what else runs there would make the next one fail as well.
void JailCall::make_room(contract::CallOutcome& outcome) {
  const bool ended_by_itself = end_ == End::kFinished || end_ == End::kInterpreterEnded;
  const bool crowded = outcome.limit == contract::Limit::kMemory || outcome.limit == contract::Limit::kPids;
  if (!ended_by_itself || !crowded || outcome.return_code == 0) return;
  end_processes(tool_ == contract::Tool::kCodeExecution ? wire::EndScope::kAllButRepl : wire::EndScope::kAllButReplTree);
  if (jail_.jail_lost || jail_.repl_lost) outcome.interpreter_restarted = jail_.loss_told = true;
}

// The new interpreter starts while the answer is on its way; the next call waits until it is ready.
void JailCall::restart_later() {
  if (jail_.jail_lost) return;  // the rebuild brings one
  try {
    jail_.repl = warden_.restart_interpreter(jail_.lease);
    jail_.repl_ready = false;
    jail_.repl_lost = false;
    ++interpreter_restarts_;
    log::info("interpreter restarted");
  } catch (const std::exception& error) {
    log::warning("an interpreter could not be restarted", {{"error", error.what()}});
    jail_.jail_lost = true;
  }
}

void JailCall::rebuild_jail() {
  Lease lease = warden_.rebuild(session_.lease());
  jail_.take(std::move(lease));
  // The session has its own of these, which stay the same.
  for (sys::UniqueFd* fd : {&jail_.workspace, &jail_.memory_usage, &jail_.pids_current}) fd->reset();
  jail_.repl_lost = false;
  ++jail_rebuilds_;
  log::info("jail rebuilt");
}

}  // namespace rookery::server

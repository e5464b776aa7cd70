// SPDX-License-Identifier: Apache-2.0
//
// The words and numbers of a call's outcome. What a model has to know of a failed call stands in its stderr; a call that
// succeeded gets no word of ours there, because clients take stderr without stdout for a failure.

#include <sys/statvfs.h>
#include <sys/wait.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "server/counters.h"
#include "server/jail_call.h"

namespace rookery::server {

namespace {

using contract::Limit;

std::string signal_name(int signal) {
  const char* name = ::sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

void add_line(std::string& text, const std::string& line) {
  if (!text.empty() && text.back() != '\n') text += '\n';
  text += line + "\n";
}

// Whether the session's files are full, by the file system's own count.
bool workspace_full(int workspace) {
  struct statvfs info{};
  if (::fstatvfs(workspace, &info) != 0) return false;
  return info.f_bavail == 0 || info.f_favail == 0;
}

// How a shell tells that its last command was ended by this signal.
bool ended_by(int status, int signal) {
  return (WIFSIGNALED(status) && WTERMSIG(status) == signal) || (WIFEXITED(status) && WEXITSTATUS(status) == 128 + signal);
}

}  // namespace

void JailCall::describe(contract::CallOutcome& outcome, std::chrono::seconds timeout) {
  const bool python = tool_ == contract::Tool::kCodeExecution;
  const std::string lost = outcome.interpreter_restarted ? "; the interpreter was restarted: variables are lost, files are kept"
                           : python                      ? "; variables and files are kept"
                                                         : "";
  const std::string limit_text = std::string("killed by sandbox limit (");
  output_cut_ = out_.truncated() || err_.truncated();
  outcome.out = out_.finish();
  outcome.err = err_.finish();
  const std::size_t programs = outcome.err.size();
  outcome.return_code = -1;
  switch (end_) {
    case End::kFinished: {
      outcome.return_code = python ? return_code_ : WIFEXITED(status_) ? WEXITSTATUS(status_) : -WTERMSIG(status_);
      outcome.limit = limit_met();
      if (outcome.return_code == 0) break;
      const bool killed = !python && (outcome.limit == Limit::kMemory || outcome.limit == Limit::kFileSize) &&
                          ended_by(status_, outcome.limit == Limit::kMemory ? SIGKILL : SIGXFSZ);
      if (killed) outcome.return_code = -1;
      if (outcome.limit != Limit::kNone && outcome.limit != Limit::kOutput) {
        const std::string name(contract::name(outcome.limit));
        add_line(outcome.err, killed ? limit_text + name + ")" : "sandbox limit reached (" + name + ")");
      }
      break;
    }
    case End::kInterpreterEnded:
      describe_death(outcome);
      break;
    case End::kJailEnded:
      outcome.limit = read_oom_kills(jail_.memory_events.get()) > oom_at_start_ ? Limit::kMemory : Limit::kNone;
      add_line(outcome.err, outcome.limit == Limit::kMemory ? limit_text + "memory)" + lost : "process exited unexpectedly" + lost);
      break;
    case End::kTimeout:
      outcome.timed_out = true;
      outcome.limit = Limit::kWallClock;
      add_line(outcome.err, std::string(python ? "execution" : "command") + " timed out after " + std::to_string(timeout.count()) + "s" + lost);
      break;
    case End::kCpu:
      outcome.limit = Limit::kCpu;
      add_line(outcome.err, limit_text + "cpu): " + std::to_string(settings_.cpu_seconds) + " CPU seconds a call" + lost);
      break;
    case End::kClientGone:
      add_line(outcome.err, "the client went away");
      break;
    case End::kCancelled:
    case End::kNone:
      add_line(outcome.err, "the session was deleted while the call ran");
      break;
  }
  outcome.notice = outcome.err.substr(programs);
}

void JailCall::describe_death(contract::CallOutcome& outcome) {
  const std::string lost = "; the interpreter was restarted: variables are lost, files are kept";
  if (limit_met() == Limit::kMemory) {
    outcome.limit = Limit::kMemory;
    add_line(outcome.err, "killed by sandbox limit (memory): " + std::to_string(settings_.memory_mb) + " MiB" + lost);
  } else if (!interpreter_ended_) {
    add_line(outcome.err, "process exited unexpectedly: it closed its channel" + lost);
  } else if (WIFEXITED(status_)) {
    outcome.return_code = WEXITSTATUS(status_);
    add_line(outcome.err, "process exited unexpectedly with status " + std::to_string(outcome.return_code) + lost);
  } else {
    const int signal = WTERMSIG(status_);
    outcome.return_code = 128 + signal;
    if (signal == SIGXFSZ) {
      outcome.return_code = -1;
      outcome.limit = Limit::kFileSize;
    }
    add_line(outcome.err, outcome.limit == Limit::kFileSize ? "killed by sandbox limit (file_size)" + lost
                                                            : "process exited unexpectedly: ended by " + signal_name(signal) + lost);
  }
}

std::string_view JailCall::ending(const contract::CallOutcome& outcome) const noexcept {
  const bool limited = outcome.limit != Limit::kNone && outcome.limit != Limit::kOutput;
  switch (end_) {
    case End::kFinished: return outcome.return_code == 0 ? "ok" : limited ? "limit" : "error";
    case End::kInterpreterEnded:
    case End::kJailEnded: return limited ? "limit" : "crashed";
    case End::kTimeout: return "timeout";
    case End::kCpu: return "limit";
    case End::kClientGone: return "client_gone";
    case End::kCancelled:
    case End::kNone: break;
  }
  return "cancelled";
}

JailCall::Report JailCall::report(const contract::CallOutcome& outcome) const noexcept {
  const bool status_known = tool_ == contract::Tool::kCodeExecution ? end_ == End::kInterpreterEnded && interpreter_ended_ : end_ == End::kFinished;
  return {ending(outcome), status_known && ended_by(status_, SIGSYS), forged_messages_, interpreter_restarts_, jail_rebuilds_};
}

// Which limit the call ran into, from the kernel's own counters.
contract::Limit JailCall::limit_met() {
  const bool python = tool_ == contract::Tool::kCodeExecution;
  if (read_oom_kills(jail_.memory_events.get()) > oom_at_start_) return Limit::kMemory;
  if (python ? error_number_ == EFBIG : ended_by(status_, SIGXFSZ)) return Limit::kFileSize;
  if (read_pids_denied(jail_.pids_events.get()) > pids_at_start_) return Limit::kPids;
  if (workspace_full(session_.workspace())) return Limit::kWorkspace;
  return output_cut_ ? Limit::kOutput : Limit::kNone;
}

}  // namespace rookery::server

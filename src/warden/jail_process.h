// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "jail/enter.h"
#include "sys/cgroup.h"
#include "sys/clone.h"
#include "util/settings.h"
#include "warden/session_storage.h"
#include "warden/setup_times.h"

namespace rookery::warden {

// What every jail of this warden has in common. Outlives them.
struct JailContext {
  const util::Settings* settings = nullptr;
  const sys::SeccompFilter* filter = nullptr;
  const sys::Cgroup* cgroup = nullptr;  // parent of the sessions' cgroups
  bool nested = true;
  bool timed = false;  // say how long the steps of a jail's set-up took
  std::string sessions_root;  // as the warden sees it
};

// The rlimits of a jail's processes.
jail::Limits jail_limits(const util::Settings& settings);

// One session on the privileged side: its files, its cgroup and the jail that runs at the moment. The jail can be
// ended and built anew; the files stay until the object goes.
class JailProcess {
 public:
  enum class State {
    kStarting,  // until the interpreter says it is ready
    kReady,     // in the pool
    kLeased,
    kDead,  // its init ended; a leased one waits for the server's word
  };

  // Makes the session's files and cgroup, and starts the jail. `image` outlives it. Throws std::system_error.
  JailProcess(const JailContext& context, const jail::Image& image, std::uint32_t slot, std::string id);
  // Removes the session's files. The jail must have ended. The cgroup is removed by remove_cgroup(), which may have to
  // be called again while the kernel still holds it.
  ~JailProcess() = default;
  JailProcess(const JailProcess&) = delete;
  JailProcess& operator=(const JailProcess&) = delete;

  // False while the cgroup is still in use; the slot must not be used again until then.
  static bool remove_cgroup(const sys::Cgroup& parent, std::uint32_t slot) noexcept;

  // Starts a jail on the session's files; the earlier one must have ended. Throws std::system_error.
  void start();
  // Sends SIGKILL to everything; the pidfd becomes readable once all of it is dead.
  void kill() noexcept;
  // To be called when the pidfd is readable: reaps.
  void ended() noexcept;
  enum class News { kNone, kInitReady, kFailed };
  // Reads what the jail wrote to the warden; kFailed: its set-up failed (see failure()) or it closed the channel.
  News read_warden_channel();
  // Whether the interpreter has said that it is ready. False as well when it closed its channel.
  bool read_repl_channel();

  // The descriptors of a lease, in the order of wire::LeaseDescriptor. They stay this object's until forget_lease().
  [[nodiscard]] std::vector<int> lease_descriptors() const;
  // Closes the server's ends, which it has now.
  void forget_lease() noexcept;
  // A channel for a new interpreter; returns the server's end. The interpreter itself comes from one of the two below.
  sys::UniqueFd new_channel();
  // Lets the init exec the interpreter (exec mode).
  void exec_interpreter();
  // The zygote's part (fork mode): the descriptors of its request, and, once it has answered, the pid for the init to
  // look after.
  [[nodiscard]] std::vector<int> fork_descriptors() const;
  void adopt_interpreter(pid_t pid);
  [[nodiscard]] uid_t inner_uid() const noexcept;
  [[nodiscard]] bool awaits_interpreter() const noexcept { return static_cast<bool>(interpreter_end_); }

  [[nodiscard]] std::uint32_t slot() const noexcept { return slot_; }
  [[nodiscard]] const std::string& id() const noexcept { return id_; }
  [[nodiscard]] const jail::Image& image() const noexcept { return image_; }
  [[nodiscard]] int pidfd() const noexcept { return process_.pidfd.get(); }
  [[nodiscard]] int warden_channel() const noexcept { return warden_channel_.get(); }
  [[nodiscard]] int repl_channel() const noexcept { return repl_channel_.get(); }
  [[nodiscard]] const std::string& failure() const noexcept { return failure_; }
  [[nodiscard]] std::chrono::steady_clock::time_point started() const noexcept { return started_; }

  // Of the jail that runs at the moment.
  [[nodiscard]] const SetupTimes& times() const noexcept { return times_; }
  void interpreter_came() { times_.lap("interpreter, until it is ready"); }

  State state = State::kStarting;
  std::uint32_t generation = 0;    // of the jail and its interpreter: tells late answers of the zygote apart
  bool interpreter_ready = false;  // it has said so
  bool interpreter_known = false;  // the init knows its pid

 private:
  void map_ids() const;

  const JailContext& context_;
  const jail::Image& image_;
  std::uint32_t slot_;
  uid_t uid_;
  std::string id_;
  SetupTimes times_;
  SessionStorage storage_;
  sys::Cgroup cgroup_;
  sys::Cloned process_;
  std::chrono::steady_clock::time_point started_;
  std::string failure_;
  sys::UniqueFd warden_channel_;
  sys::UniqueFd interpreter_end_;               // until the interpreter has it
  sys::UniqueFd program_output_, program_error_;  // what programs of the jail write to
  std::vector<sys::UniqueFd> cgroup_procs_;
  // The server's ends, until the lease.
  sys::UniqueFd init_channel_, repl_channel_, output_, error_, workspace_, cpu_usage_, memory_events_, pids_events_, memory_usage_, pids_current_;
};

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "sys/unique_fd.h"

namespace rookery::jail {

struct Programs;

// A bash that is started ahead and waits for its command: most of what `bash -c true` takes is the exec and the dynamic
// linker. It holds before its own first instruction, in a library that is loaded into it (spare_bash_preload.cpp), and goes
// on exactly as `bash -c COMMAND` once the command has come. Made after the first call of bash, so that sessions that never
// use it pay nothing. It belongs to the session like every process of the jail, which can end it or stop it: then
// the next bash is started as the first one was.
class SpareBash {
 public:
  // Starts one where there is none. Does nothing in an image whose bash does not wait (a static one).
  void prepare(const Programs& programs) noexcept;
  // Gives it its command, the text of bash's -c, and what it is to have as fd kScript, or -1. Its pid, or -1 when there is none.
  pid_t hand_over(std::string_view command, int script);
  // To be asked about every process that has ended. kUnused: it was the spare one. kLostCommand: it had been given a command,
  // and had been ended before it took it; command() and script() are to be run by another. Else kNotSpare.
  enum class Ended { kNotSpare, kUnused, kLostCommand };
  Ended ended(pid_t pid) noexcept;
  [[nodiscard]] const std::string& command() const noexcept { return command_; }
  [[nodiscard]] int script() const noexcept { return script_.get(); }
  // Ends it.
  void discard() noexcept;

 private:
  pid_t pid_ = -1;
  sys::UniqueFd channel_;
  int ended_unused_ = 0;
  // Of the one that has been given a command.
  pid_t given_pid_ = -1;
  sys::UniqueFd given_channel_;
  std::string command_;
  sys::UniqueFd script_;
};

}  // namespace rookery::jail

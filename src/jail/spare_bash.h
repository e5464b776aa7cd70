// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "sys/unique_fd.h"

namespace rookery::jail {

struct Programs;

// A bash that is there ahead of its command: most of what `bash -c true` takes is the exec and the dynamic linker. A model is
// executed once and holds before its own first instruction, in a library that is loaded into it (spare_bash_preload.cpp);
// each spare one is a copy of it that waits for a command and then goes on exactly as `bash -c COMMAND`. Made after the first
// call of bash, so that sessions that never use it pay nothing. Both belong to the session like every process of the jail, which
// can end or stop them: then the next bash is started as the first one was.
class SpareBash {
 public:
  // Has one made where there is none. Does nothing in an image whose bash does not wait (a static one).
  void prepare(const Programs& programs) noexcept;
  // Gives it its command, the text of bash's -c, and what it is to have as fd kScript, or -1. Its pid, or -1 when there is none.
  pid_t hand_over(std::string_view command, int script);
  // To be asked about every process that has ended. kUnused: it was the model or the spare one. kLostCommand: it had been given
  // a command, and had been ended before it took it; command() and script() are to be run by another. Else kNotSpare.
  enum class Ended { kNotSpare, kUnused, kLostCommand };
  Ended ended(pid_t pid) noexcept;
  [[nodiscard]] const std::string& command() const noexcept { return command_; }
  [[nodiscard]] int script() const noexcept { return script_.get(); }
  // The model's pid; -1 when there is none.
  [[nodiscard]] pid_t model() const noexcept { return model_; }
  // Ends both.
  void discard() noexcept;

 private:
  void await_copy() noexcept;

  pid_t model_ = -1;
  sys::UniqueFd model_channel_;
  bool ordered_ = false;  // a copy, whose pid the model has not told yet
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

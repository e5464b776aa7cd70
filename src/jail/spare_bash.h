// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string_view>

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
  pid_t hand_over(std::string_view command, int script) noexcept;
  // True if `pid` is the spare one, which has ended unused.
  bool ended(pid_t pid) noexcept;
  // Ends it.
  void discard() noexcept;

 private:
  void close_channel() noexcept;

  pid_t pid_ = -1;
  int channel_ = -1;
  int ended_unused_ = 0;
};

}  // namespace rookery::jail

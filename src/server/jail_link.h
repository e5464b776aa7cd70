// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "server/warden_client.h"
#include "sys/unique_fd.h"
#include "wire/message.h"

namespace rookery::server {

// The server's descriptors of one session's jail. What arrives on them is untrusted. Used by one thread at a time:
// whoever holds the session's call queue.
struct JailLink {
  std::uint64_t lease = 0;
  sys::UniqueFd init, repl, out, err, workspace, cpu_usage, memory_events, pids_events, memory_usage, pids_current;
  bool repl_ready = false;  // false: start one, or wait until a started one is ready
  bool repl_lost = false;   // the last interpreter ended: variables are gone
  bool jail_lost = false;   // the init ended: the jail has to be built anew
  bool loss_told = false;   // an answer has already said that the variables are gone

  // Takes over a lease; an interpreter of a fresh lease is ready. Throws std::runtime_error for a wrong one.
  void take(Lease taken);
};

// Sends text with a message: inline, or in a sealed memfd when it is long. False when the peer cannot take it.
// `cpu`, with kRunCode: the processor that the caller waits on, counted from 0; -1: none.
[[nodiscard]] bool send_text(int channel, wire::Type type, std::uint64_t nonce, std::string_view text, int cpu = -1);

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

// The interpreter's end of its channel to the server (wire/message.h). None of it touches Python, so it runs
// without the interpreter's lock and cannot be disturbed by what user code did to the interpreter.
namespace rookery::repl {

constexpr std::size_t kMaxSource = 4 * 1024 * 1024;  // bytes of one cell's source text

struct Request {
  std::uint64_t nonce = 0;
  std::string source;
  int error = 0;  // errno that says why the source could not be read; 0: it was
  int cpu = -1;   // that the server waits on; -1: on any
};

enum class Receive { kRequest, kClosed, kBroken };

// Before the first receive_request(). False: errno says why.
[[nodiscard]] bool prepare_channel(int channel) noexcept;

// Waits for the next kRunCode. Packets that are not a well-formed request are dropped. For the first moment it waits where the
// server did during the last request, `request` as it comes: whoever asks again at once finds both on one processor.
[[nodiscard]] Receive receive_request(int channel, Request& request);

// Each sends one packet, waiting where it would block. False when the channel is of no use any more.
[[nodiscard]] bool send_ready(int channel);
[[nodiscard]] bool send_finished(int channel, std::uint64_t nonce, std::int32_t return_code, std::uint32_t error);

}  // namespace rookery::repl

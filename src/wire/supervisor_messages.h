// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

// The channel between the supervisor, or its token reader, and the server: SEQPACKET, one message a packet. Secrets come
// over it and not through the environment or a command line, where others could read them.
namespace rookery::wire {

enum class SupervisorMessage : char {
  kOneToken = 'o',  // to the server, first and once: SANDBOX_AUTH_TOKEN, or nothing
  kTokens = 't',    // to the server, where there is a token file: its content; again after each SIGHUP
  kProblem = 'p',   // to the server, instead of kTokens: why the file could not be read, for its log
  kReady = 'r',     // to the supervisor, once: requests are served from now on
};

// Bytes of text in one message.
constexpr std::size_t kMaxSupervisorText = 64 * 1024;

// Waits until there is room. Throws std::system_error, and std::length_error for a text that is too long.
void send_to_supervised(int socket, SupervisorMessage kind, std::string_view text = {});

struct FromSupervisor {
  SupervisorMessage kind{};
  std::string text;
};

// Waits for the next message. nullopt: the other side is gone, or what came is no message.
std::optional<FromSupervisor> receive_from_supervisor(int socket);

}  // namespace rookery::wire

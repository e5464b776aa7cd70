// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a bash that is started ahead of its command (spare_bash.h), before its own code runs. Waits on a socket for
// one packet, the text of its -c argument, with at most one descriptor, says that it has it, and puts bash into the state in which
// `bash -c TEXT` would have been started. Needs nothing but the image's own C library.

#include <sys/socket.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

#include "jail/init_protocol.h"
#include "wire/message.h"

namespace {

constexpr std::size_t kMostText = rookery::wire::kMaxPayload;
char text[kMostText + 1];

void forget_preload(char** environment) {
  char** kept = environment;
  for (char** variable = environment; *variable != nullptr; ++variable) {
    if (std::strncmp(*variable, "LD_PRELOAD=", 11) == 0) {
      std::memset(*variable, 0, std::strlen(*variable));  // what /proc shows of it
    } else {
      *kept++ = *variable;
    }
  }
  *kept = nullptr;
}

// Bash gets the text; in the place of the old argument goes what ps shows of it.
void set_command(char*& argument, std::size_t size) {
  const std::size_t room = std::strlen(argument);
  std::memset(argument, 0, room);
  std::memcpy(argument, text, size < room ? size : room);
  argument = text;
}

// The argument vector lies before the environment, with a null pointer between them (execve(2)), in every C library.
char** arguments_before(char** environment) {
  char** argument = environment - 1;
  while (reinterpret_cast<std::size_t>(argument[-1]) != static_cast<std::size_t>(environment - 1 - argument)) --argument;
  return argument;
}

[[gnu::constructor]] void wait_for_command() {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{text, kMostText};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(rookery::jail::kCommandChannel, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) ::_exit(126);  // the init has gone, or let this one go
  const char taken = 1;
  if (::send(rookery::jail::kCommandChannel, &taken, 1, MSG_NOSIGNAL) != 1) ::_exit(126);
  text[size] = '\0';
  int script = -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&script, CMSG_DATA(header), sizeof script);
  ::close(rookery::jail::kCommandChannel);
  if (script >= 0) {
    ::dup2(script, rookery::jail::kScript);
    ::close(script);
  }
  set_command(arguments_before(environ)[2], static_cast<std::size_t>(size));
  forget_preload(environ);
}

}  // namespace

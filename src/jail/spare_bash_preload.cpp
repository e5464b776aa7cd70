// SPDX-License-Identifier: Apache-2.0
//
// Loaded into a bash that is executed ahead of its command (spare_bash.h), before its own code runs. This one is the model: for
// every packet on a socket, which brings the end of another socket, it makes a copy of itself and tells its pid. The copy waits
// there for one packet, the text of its -c argument, with at most one descriptor, says that it has it, and puts bash into the
// state in which `bash -c TEXT` would have been started. Needs nothing but the image's own C library.

#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/syscall.h>
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

// Receives a packet; the descriptor that comes with it, or -1. Ends the process when the init has gone, or lets it go.
ssize_t receive(void* to, std::size_t room, int& descriptor) {
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))];
  iovec part{to, room};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  const ssize_t size = ::recvmsg(rookery::jail::kCommandChannel, &message, MSG_CMSG_CLOEXEC);
  if (size <= 0) ::_exit(126);
  descriptor = -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header != nullptr && header->cmsg_type == SCM_RIGHTS) std::memcpy(&descriptor, CMSG_DATA(header), sizeof descriptor);
  return size;
}

// Returns in the copies. The init is their parent, as it is of a bash that it starts itself.
void make_copies() {
  for (;;) {
    char order;
    int channel;
    receive(&order, 1, channel);
    int pid = static_cast<int>(::syscall(SYS_clone, CLONE_PARENT | SIGCHLD, nullptr, nullptr, nullptr, nullptr));
    if (pid == 0) {
      ::setsid();
      ::dup2(channel, rookery::jail::kCommandChannel);
      ::close(channel);
      return;
    }
    ::close(channel);
    if (::send(rookery::jail::kCommandChannel, &pid, sizeof pid, MSG_NOSIGNAL) != sizeof pid) ::_exit(126);
  }
}

[[gnu::constructor]] void wait_for_command() {
  make_copies();
  int script;
  const ssize_t size = receive(text, kMostText, script);
  const char taken = 1;
  if (::send(rookery::jail::kCommandChannel, &taken, 1, MSG_NOSIGNAL) != 1) ::_exit(126);
  text[size] = '\0';
  ::close(rookery::jail::kCommandChannel);
  if (script >= 0) {
    ::dup2(script, rookery::jail::kScript);
    ::close(script);
  }
  set_command(arguments_before(environ)[2], static_cast<std::size_t>(size));
  forget_preload(environ);
}

}  // namespace

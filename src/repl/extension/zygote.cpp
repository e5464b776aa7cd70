// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include "repl/extension/zygote.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>

#include "jail/join.h"
#include "repl/extension/shared_heap.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"
#include "wire/message.h"

namespace rookery::repl {

namespace {

struct Zygote {
  int warden = -1;
  sys::UniqueFd own_pid_namespace;
  jail::Limits limits;
  sys::SeccompFilter filter;
};

void read_config(int config, Zygote& zygote) {
  const std::string bytes = sys::read_all(config);
  wire::Reader reader(bytes);
  zygote.limits.file_size = reader.u64();
  zygote.limits.open_files = reader.u32();
  zygote.limits.data = reader.u64();
  zygote.limits.processes = reader.u32();
  if (!reader.ok()) throw std::runtime_error("the zygote's configuration is cut short");
  zygote.filter = sys::SeccompFilter::deserialise(std::string_view(bytes).substr(2 * (sizeof(std::uint64_t) + sizeof(std::uint32_t))));
}

// What ps shows. The arguments that the process was started with stand one behind the other, from program_invocation_name
// on (execve(2)); they are written over in place. The interpreter finds itself by the first, so it has to be right until
// then. `name` is what the process is called in short.
void set_title(std::string_view title, const char* name) noexcept {
  static char* const start = program_invocation_name;
  static const std::size_t room = [] {
    char* end = start;
    for (const char* argument : {"", "-I", "-B", "", "zygote"}) {
      if (*argument != '\0' && std::strcmp(end, argument) != 0) break;
      end += std::strlen(end) + 1;
    }
    return static_cast<std::size_t>(end - start);
  }();
  ::prctl(PR_SET_NAME, name);
  if (room <= title.size()) return;
  std::memset(start, 0, room);
  std::memcpy(start, title.data(), title.size());
}

// Runs in the new process: anything that fails is told on its channel, where the warden still listens.
void become_member(const Zygote& zygote, const jail::Membership& membership) noexcept {
  try {
    set_title("python3", "python3");
    jail::join(membership, zygote.limits, zygote.filter);
  } catch (const std::exception& error) {
    wire::Writer message(wire::Type::kSetupFailed, 0);
    message.raw(std::string_view(error.what()).substr(0, 1024));
    // Until join() has arranged the descriptors, 3 is the zygote's own channel; after that, the number it came under is closed.
    const int channel = ::fcntl(membership.channel, F_GETFD) >= 0 ? membership.channel : 3;
    [[maybe_unused]] const bool sent = sys::send_packet(channel, message.packet());
    ::_exit(70);
  }
}

// What the intermediate process of a fork tells the zygote.
struct Made {
  pid_t pid = -1;
  int error = ESRCH;  // of one that was ended before it could tell
};

// Forks into the PID namespace of `init`. In the zygote: the new process's pid inside it, or -1 with errno set. In the
// new process: 0. An intermediate process does the fork and ends, which leaves the new one to the jail's init to reap. It has
// memory of its own, not the zygote's by vfork: who ends the jail's processes ends this one wherever it is, also with a lock of
// libc's fork in its hands (glibc 2.41), for which all later interpreters would wait.
pid_t fork_into(const Zygote& zygote, int init) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return -1;
  const sys::UniqueFd told(ends[0]);
  const sys::UniqueFd tell(ends[1]);
  if (::setns(init, CLONE_NEWPID) != 0) return -1;
  PyOS_BeforeFork();
  const pid_t between = ::fork();
  if (between == 0) {
    const pid_t child = ::fork();
    if (child == 0) {
      PyOS_AfterFork_Child();
      return 0;
    }
    const Made made{child, errno};
    ::_exit(::write(tell.get(), &made, sizeof made) == sizeof made ? 0 : 72);
  }
  Made made{-1, errno};
  PyOS_AfterFork_Parent();
  if (between > 0) {
    ::waitpid(between, nullptr, 0);
    if (::read(told.get(), &made, sizeof made) != sizeof made) made = {};
  }
  if (::setns(zygote.own_pid_namespace.get(), CLONE_NEWPID) != 0) ::_exit(71);
  errno = made.error;
  return made.pid;
}

void answer(const Zygote& zygote, wire::Writer& message) {
  if (!sys::send_packet(zygote.warden, message.packet())) ::_exit(71);
}

// True in the new process.
bool serve_request(const Zygote& zygote, const wire::Message& request, const std::vector<sys::UniqueFd>& descriptors) {
  wire::Reader reader(request.payload);
  jail::Membership membership;
  membership.uid = reader.u32();
  membership.nested = reader.u32() != 0;
  if (request.header.type != wire::Type::kForkRepl || !reader.done() || descriptors.size() < wire::kForkCgroups) {
    ::_exit(71);  // only the warden speaks here: whatever this is, nothing good comes of going on
  }
  membership.init = descriptors[wire::kForkInit].get();
  membership.channel = descriptors[wire::kForkChannel].get();
  membership.standard_output = descriptors[wire::kForkOutput].get();
  membership.standard_error = descriptors[wire::kForkError].get();
  for (std::size_t i = wire::kForkCgroups; i < descriptors.size(); ++i) membership.cgroup_procs.push_back(descriptors[i].get());
  const pid_t pid = fork_into(zygote, membership.init);
  if (pid == 0) {
    become_member(zygote, membership);
    return true;
  }
  if (pid < 0) {
    wire::Writer message(wire::Type::kForkFailed, request.header.nonce);
    message.text(std::strerror(errno));
    answer(zygote, message);
  } else {
    wire::Writer message(wire::Type::kForked, request.header.nonce);
    answer(zygote, message.i32(pid));
  }
  return false;
}

bool serve_requests(const Zygote& zygote) {
  std::byte buffer[sizeof(wire::Header) + 256];
  for (;;) {
    pollfd fds[] = {{zygote.warden, POLLIN, 0}};
    if (::poll(fds, 1, -1) < 0) continue;
    sys::Received received = sys::receive_packet(zygote.warden, buffer, wire::kMaxDescriptors);
    if (received.size < 0 && errno == EAGAIN) continue;
    if (received.size <= 0) ::_exit(0);
    const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
    if (!message) ::_exit(71);
    if (serve_request(zygote, *message, received.descriptors)) {
      // They are closed already, and their numbers may be in use again.
      for (sys::UniqueFd& fd : received.descriptors) [[maybe_unused]] const int gone = fd.release();
      return true;
    }
  }
}

}  // namespace

bool fork_loop(int warden, int config, const char* preloaded) noexcept {
  // Never destroyed: in a new process its descriptors are closed already.
  static Zygote* zygote = new Zygote;
  try {
    zygote->warden = warden;
    zygote->own_pid_namespace.reset(sys::check(::open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC), "open /proc/self/ns/pid"));
    read_config(config, *zygote);
    ::close(config);
    set_title("rookery: zygote", "zygote");
    share_heap();
    wire::Writer ready(wire::Type::kZygoteReady, 0);
    answer(*zygote, ready.text(std::string_view(preloaded).substr(0, 4096)));
    return serve_requests(*zygote);
  } catch (const std::exception& error) {
    ::dprintf(2, "cannot start: %s\n", error.what());
    return false;
  }
}

}  // namespace rookery::repl

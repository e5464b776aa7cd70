// SPDX-License-Identifier: Apache-2.0
#include "warden/zygote_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>

#include "jail/init_protocol.h"
#include "sys/credentials.h"
#include "sys/error.h"
#include "sys/mount.h"
#include "sys/signals.h"
#include "sys/socket.h"
#include "wire/message.h"

namespace rookery::warden {

namespace {

constexpr int kChannel = 3;
constexpr int kConfig = 4;

// What joining a jail takes: its namespaces (SYS_ADMIN, SYS_CHROOT; SYS_PTRACE, because its init is not dumpable) and its
// ids and capability sets (SETUID, SETGID, SETPCAP).
constexpr cap_value_t kCapabilities[] = {CAP_SYS_ADMIN, CAP_SYS_CHROOT, CAP_SYS_PTRACE, CAP_SETUID, CAP_SETGID, CAP_SETPCAP};

void enter_image(const jail::Image& image) {
  sys::make_private();
  sys::bind(image.root, image.root, true);
  sys::bind("/proc", image.root + "/proc", true);
  // Imports write caches; what they write stays here.
  sys::mount_fs("tmpfs", image.root + "/tmp", MS_NOSUID | MS_NODEV, "mode=1777,size=64m");
  sys::enter_root(image.root);
}

void arrange_descriptors(int channel, int config, int output) {
  const int moved_channel = sys::check(::fcntl(channel, F_DUPFD_CLOEXEC, 64), "move a descriptor");
  const int moved_config = sys::check(::fcntl(config, F_DUPFD_CLOEXEC, 64), "move a descriptor");
  const int moved_output = sys::check(::fcntl(output, F_DUPFD_CLOEXEC, 64), "move a descriptor");
  sys::check(::dup2(moved_channel, kChannel), "dup2");
  sys::check(::dup2(moved_config, kConfig), "dup2");
  const sys::UniqueFd null(sys::check(::open("/dev/null", O_RDWR | O_CLOEXEC), "open /dev/null"));
  sys::check(::dup2(null.get(), 0), "dup2");
  for (const int standard : {1, 2}) sys::check(::dup2(moved_output, standard), "dup2");
  sys::check(::close_range(kConfig + 1, ~0u, 0), "close all other descriptors");
}

[[noreturn]] void become_zygote(const ZygoteRecipe& recipe, int channel, int config, int output) noexcept {
  try {
    sys::reset_signals();
    enter_image(*recipe.image);
    arrange_descriptors(channel, config, output);
    sys::limit_capabilities(kCapabilities);
    sys::set_no_new_privileges();
    sys::check(::prctl(PR_SET_PDEATHSIG, SIGKILL), "set the parent-death signal");
    if (const int error = recipe.own_filter->load(); error != 0) {
      errno = error;
      sys::throw_errno("load the zygote's seccomp filter");
    }
    std::vector<std::string> environment = recipe.image->environment;
    environment.push_back("ROOKERY_NOFILE=" + std::to_string(recipe.limits.open_files));
    environment.push_back("ROOKERY_PRELOAD=" + recipe.image->preload);
    std::vector<char*> pointers;
    for (std::string& variable : environment) pointers.push_back(variable.data());
    pointers.push_back(nullptr);
    // Python finds itself by its first argument; it takes the title "rookery: zygote" once it runs.
    char* arguments[] = {const_cast<char*>(recipe.image->python.c_str()), const_cast<char*>("-I"), const_cast<char*>("-B"),
                         const_cast<char*>(jail::kDriverPath), const_cast<char*>("zygote"), nullptr};
    ::execve(recipe.image->python.c_str(), arguments, pointers.data());
    sys::throw_errno("exec " + recipe.image->python);
  } catch (const std::exception& error) {
    ::dprintf(output, "cannot start: %s\n", error.what());
  }
  ::_exit(70);
}

sys::UniqueFd write_config(const ZygoteRecipe& recipe) {
  std::string bytes;
  const auto add = [&](const auto& value) { bytes.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(recipe.limits.file_size);
  add(recipe.limits.open_files);
  add(recipe.limits.data);
  add(recipe.limits.processes);
  return sys::sealed_memfd("rookery-zygote", bytes + recipe.session_filter->serialise());
}

}  // namespace

ZygoteProcess::ZygoteProcess(const ZygoteRecipe& recipe) {
  auto [here, there] = sys::seqpacket_pair();
  const sys::UniqueFd config = write_config(recipe);
  int output[2];
  sys::check(::pipe2(output, O_CLOEXEC), "pipe");
  const sys::UniqueFd printed(output[1]);
  output_.emplace(sys::UniqueFd(output[0]));
  sys::check(::fcntl(output_->fd(), F_SETFL, O_NONBLOCK), "make a pipe non-blocking");
  // Libraries that draw random numbers, such as OpenSSL, see by a changed process id that they were forked. In a jail the ids
  // start from 1, and an interpreter must not come to have the zygote's.
  process_ = sys::clone_process_with_high_pid(CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS);
  if (process_.pid == 0) become_zygote(recipe, there.get(), config.get(), printed.get());
  channel_ = std::move(here);
}

ZygoteProcess::~ZygoteProcess() {
  sys::signal_process(process_.pidfd.get(), SIGKILL);
  sys::reap(process_.pidfd.get());
}

std::optional<ZygoteProcess::Forked> ZygoteProcess::read() {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  const sys::Received received = sys::receive_packet(channel_.get(), buffer);
  if (received.size < 0 && errno == EAGAIN) return std::nullopt;
  const auto message = received.size > 0 ? wire::parse({buffer, static_cast<std::size_t>(received.size)}) : std::nullopt;
  if (!message) throw std::runtime_error("the zygote ended");
  wire::Reader reader(message->payload);
  switch (message->header.type) {
    case wire::Type::kZygoteReady: ready_ = true; return std::nullopt;
    case wire::Type::kForked: return Forked{message->header.nonce, reader.i32(), ""};
    case wire::Type::kForkFailed: return Forked{message->header.nonce, -1, std::string(reader.text())};
    default: throw std::runtime_error("the zygote sent an unknown message");
  }
}

void ZygoteProcess::fork(std::uint64_t nonce, uid_t uid, bool nested, const std::vector<int>& descriptors) {
  wire::Writer message(wire::Type::kForkRepl, nonce);
  message.u32(uid).u32(nested ? 1 : 0);
  if (!sys::send_packet(channel_.get(), message.packet(), descriptors)) sys::throw_errno("ask the zygote");
  ++forks_;
}

}  // namespace rookery::warden

// SPDX-License-Identifier: Apache-2.0
#include "warden/jail_process.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>

#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"
#include "warden/handover.h"
#include "wire/message.h"
#include "wire/warden_messages.h"

namespace rookery::warden {

namespace {

constexpr uid_t kInnerUid = 1000;

struct Pipe {
  sys::UniqueFd read, write;
};

// The read end never blocks the server; the write end is an ordinary blocking one.
Pipe make_pipe(uid_t owner) {
  int ends[2];
  sys::check(::pipe2(ends, O_CLOEXEC), "pipe");
  Pipe pipe{sys::UniqueFd(ends[0]), sys::UniqueFd(ends[1])};
  sys::check(::fcntl(pipe.read.get(), F_SETFL, O_NONBLOCK), "make a pipe non-blocking");
  // So that programs may open it again, as /dev/stdout.
  sys::check(::fchown(pipe.write.get(), owner, owner), "chown a pipe");
  return pipe;
}

std::string cgroup_name_of(std::uint32_t slot) { return "s-" + std::to_string(slot); }

}  // namespace

jail::Limits jail_limits(const util::Settings& settings) {
  jail::Limits limits;
  limits.file_size = std::uint64_t{settings.fsize_mb} << 20;
  limits.open_files = settings.nofile;
  if (settings.weaker.no_cgroup) {
    limits.data = std::uint64_t{settings.memory_mb} << 20;
    limits.processes = settings.pids;
  }
  return limits;
}

JailProcess::JailProcess(const JailContext& context, const jail::Image& image, std::uint32_t slot, std::string id)
    : context_(context),
      image_(image),
      slot_(slot),
      uid_(session_uid(*context.settings, slot)),
      id_(std::move(id)),
      times_(context.timed),
      storage_(context.sessions_root, id_, uid_, *context.settings) {
  const util::Settings& settings = *context.settings;
  times_.lap("the session's files");
  cgroup_ = context.cgroup->create(cgroup_name_of(slot_));
  try {
    if (!settings.weaker.no_cgroup) cgroup_.set_limits({std::uint64_t{settings.memory_mb} << 20, settings.pids, settings.cpu_millis});
    times_.lap("cgroup and its limits");
    start();
  } catch (...) {
    remove_cgroup(*context.cgroup, slot_);
    throw;
  }
}

bool JailProcess::remove_cgroup(const sys::Cgroup& parent, std::uint32_t slot) noexcept {
  return parent.remove(cgroup_name_of(slot));
}

void JailProcess::start() {
  auto [warden_end, init_warden_end] = sys::seqpacket_pair();
  auto [server_end, init_server_end] = sys::seqpacket_pair();
  auto [repl_end, interpreter_end] = sys::seqpacket_pair();
  Pipe output = make_pipe(uid_);
  Pipe error = make_pipe(uid_);
  const sys::UniqueFd session_tree = storage_.clone();
  workspace_ = storage_.open_workspace();

  jail::Entry entry;
  entry.image = &image_;
  entry.filter = context_.filter;
  entry.limits = jail_limits(*context_.settings);
  entry.nested = context_.nested;
  entry.uid = inner_uid();
  entry.session_tree = session_tree.get();
  entry.timed = context_.timed;
  entry.warden_channel = init_warden_end.get();
  entry.server_channel = init_server_end.get();
  entry.standard_output = output.write.get();
  entry.standard_error = error.write.get();
  cgroup_procs_ = cgroup_.open_procs();
  for (const sys::UniqueFd& file : cgroup_procs_) {
    if (!cgroup_.unified()) entry.cgroup_procs.push_back(file.get());
  }

  std::uint64_t flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
  if (context_.nested) flags |= CLONE_NEWUSER;
  started_ = std::chrono::steady_clock::now();
  state = State::kStarting;
  ++generation;
  interpreter_ready = interpreter_known = false;
  times_.lap("channels and pipes");
  process_ = sys::clone_process(flags, cgroup_.clone_directory());
  if (process_.pid == 0) jail::enter(entry);
  times_.lap("clone3, with the new namespaces");

  try {
    if (context_.nested) map_ids();
    const std::byte go{1};
    if (!sys::send_packet(warden_end.get(), std::span(&go, 1))) sys::throw_errno("let the jail go on");
    times_.lap("id map");
  } catch (...) {
    kill();
    ended();
    throw;
  }
  warden_channel_ = std::move(warden_end);
  init_channel_ = std::move(server_end);
  repl_channel_ = std::move(repl_end);
  interpreter_end_ = std::move(interpreter_end);
  program_output_ = std::move(output.write);
  program_error_ = std::move(error.write);
  output_ = std::move(output.read);
  error_ = std::move(error.read);
  cpu_usage_ = cgroup_.open_cpu_usage();
  memory_events_ = cgroup_.open_memory_events();
  pids_events_ = cgroup_.open_pids_events();
  memory_usage_ = cgroup_.open_memory_usage();
  pids_current_ = cgroup_.open_pids_current();
}

void JailProcess::map_ids() const {
  const std::string process = "/proc/" + std::to_string(process_.pid);
  const std::string map = std::to_string(kInnerUid) + " " + std::to_string(uid_) + " 1\n";
  sys::write_file(process + "/uid_map", map);
  sys::write_file(process + "/gid_map", map);
}

void JailProcess::kill() noexcept {
  // The init is pid 1 of the jail's PID namespace: the kernel ends all of it and waits for that before the init's own
  // end becomes visible (pid_namespaces(7)).
  if (process_.pidfd) sys::signal_process(process_.pidfd.get(), SIGKILL);
}

void JailProcess::ended() noexcept {
  if (process_.pidfd) sys::reap(process_.pidfd.get());
  process_ = {};
  for (sys::UniqueFd* fd : {&warden_channel_, &interpreter_end_, &program_output_, &program_error_}) fd->reset();
  cgroup_procs_.clear();
  forget_lease();
  state = State::kDead;
}

JailProcess::News JailProcess::read_warden_channel() {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  News news = News::kNone;
  for (;;) {
    const sys::Received received = sys::receive_packet(warden_channel_.get(), buffer);
    if (received.size < 0 && errno == EAGAIN) return news;
    if (received.size <= 0) return News::kFailed;
    const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
    if (!message) continue;  // a jail that writes nonsense harms only itself
    if (message->header.type == wire::Type::kJailReady) {
      news = News::kInitReady;
      times_.lap("jail, until its init is ready");
    }
    if (message->header.type == wire::Type::kSetupTimes) times_.add_told(message->payload);
    if (message->header.type != wire::Type::kSetupFailed) continue;
    failure_ = std::string(message->payload.substr(0, 1024));
    return News::kFailed;
  }
}

bool JailProcess::read_repl_channel() {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  const sys::Received received = sys::receive_packet(repl_channel_.get(), buffer);
  if (received.size <= 0) return false;
  const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
  if (message && message->header.type == wire::Type::kSetupFailed) failure_ = std::string(message->payload.substr(0, 1024));
  return message && message->header.type == wire::Type::kReplReady;
}

std::vector<int> JailProcess::lease_descriptors() const {
  std::vector<int> fds(wire::kLeaseDescriptorCount);
  fds[wire::kInitChannel] = init_channel_.get();
  fds[wire::kReplChannel] = repl_channel_.get();
  fds[wire::kStdout] = output_.get();
  fds[wire::kStderr] = error_.get();
  fds[wire::kWorkspace] = workspace_.get();
  fds[wire::kCpuUsage] = cpu_usage_.get();
  fds[wire::kMemoryEvents] = memory_events_.get();
  fds[wire::kPidsEvents] = pids_events_.get();
  fds[wire::kMemoryUsage] = memory_usage_.get();
  fds[wire::kPidsCurrent] = pids_current_.get();
  return fds;
}

void JailProcess::forget_lease() noexcept {
  for (sys::UniqueFd* fd : {&init_channel_, &repl_channel_, &output_, &error_, &workspace_, &cpu_usage_, &memory_events_, &pids_events_,
                            &memory_usage_, &pids_current_}) {
    fd->reset();
  }
}

sys::UniqueFd JailProcess::new_channel() {
  auto [server_end, interpreter_end] = sys::seqpacket_pair();
  interpreter_end_ = std::move(interpreter_end);
  ++generation;
  interpreter_known = false;
  return std::move(server_end);
}

void JailProcess::exec_interpreter() {
  wire::Writer start(wire::Type::kStartRepl, 0);
  const int end = interpreter_end_.get();
  if (!sys::send_packet(warden_channel_.get(), start.packet(), std::span(&end, 1))) sys::throw_errno("start an interpreter");
  interpreter_end_.reset();
  interpreter_known = true;
}

uid_t JailProcess::inner_uid() const noexcept { return context_.nested ? kInnerUid : uid_; }

std::vector<int> JailProcess::fork_descriptors() const {
  std::vector<int> fds(wire::kForkCgroups);
  fds[wire::kForkInit] = process_.pidfd.get();
  fds[wire::kForkChannel] = interpreter_end_.get();
  fds[wire::kForkOutput] = program_output_.get();
  fds[wire::kForkError] = program_error_.get();
  for (const sys::UniqueFd& file : cgroup_procs_) fds.push_back(file.get());
  return fds;
}

void JailProcess::adopt_interpreter(pid_t pid) {
  wire::Writer start(wire::Type::kStartRepl, 0);
  if (!sys::send_packet(warden_channel_.get(), start.i32(pid).packet())) sys::throw_errno("name an interpreter to its init");
  interpreter_end_.reset();
  interpreter_known = true;
}

}  // namespace rookery::warden

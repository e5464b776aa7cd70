// SPDX-License-Identifier: Apache-2.0
#include "server/run_main.h"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "log/log.h"
#include "server/files/file_reader.h"
#include "server/files/upload_file.h"
#include "server/jail_call.h"
#include "server/privileges.h"
#include "sys/error.h"
#include "sys/file.h"
#include "sys/socket.h"
#include "wire/children.h"

namespace rookery::server {

namespace {

constexpr int kCommandChannel = wire::kServerListenSocket;  // in its place

constexpr std::size_t kMostFiles = 5'000;  // that are handed out
constexpr int kPatienceMs = 60'000;        // for the command to take one

// As of timeout(1) and of shells.
constexpr int kTimedOut = 124;
constexpr int kKilled = 128 + SIGKILL;
constexpr int kInterrupted = 128 + SIGINT;

struct Program {
  contract::Tool tool = contract::Tool::kCodeExecution;
  std::chrono::seconds timeout{};
  std::string image;
  std::string source;
};

template <typename T>
T taken(FileResult<T> result) {
  if (const auto* error = std::get_if<FileError>(&result)) throw std::runtime_error(error->detail);
  return std::get<T>(std::move(result));
}

void put_file(Session& session, const std::string& name, int from) {
  UploadFile file = taken(UploadFile::begin(session.workspace(), name));
  std::vector<char> buffer(256 * 1024);
  for (;;) {
    const ssize_t size = ::read(from, buffer.data(), buffer.size());
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) sys::throw_errno("read " + name);
    if (size == 0) break;
    if (const auto error = file.write({buffer.data(), static_cast<std::size_t>(size)})) throw std::runtime_error(name + ": " + error->detail);
  }
  taken(file.commit(session.snapshot.recorder()));
}

struct Input {
  std::string name;
  sys::UniqueFd file;
};

// Everything that the command sent before the warden was started.
Program receive_program(std::vector<Input>& inputs) {
  Program program;
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  for (;;) {
    sys::Received received = sys::receive_packet(kCommandChannel, buffer, 1);
    const auto message = wire::parse({buffer, static_cast<std::size_t>(std::max<ssize_t>(received.size, 0))});
    if (!message || received.truncated) throw std::runtime_error("the command does not say what to run");
    wire::Reader reader(message->payload);
    if (message->header.type == wire::Type::kRunStart) return program;
    if (received.descriptors.size() != 1) throw std::runtime_error("a message of the command lacks its file");
    if (message->header.type == wire::Type::kRunProgram) {
      program.tool = reader.u32() == 1 ? contract::Tool::kBashExecution : contract::Tool::kCodeExecution;
      program.timeout = std::chrono::seconds(reader.u32());
      program.image = reader.text();
      program.source = sys::read_all(received.descriptors.front().get());
    } else if (message->header.type == wire::Type::kRunInput) {
      inputs.push_back({std::string(reader.text()), std::move(received.descriptors.front())});
    }
    if (!reader.done()) throw std::runtime_error("a malformed message of the command");
  }
}

// False once nobody reads any more.
bool print(int stream, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(stream, bytes.data(), bytes.size());
    if (size < 0 && errno == EAGAIN) {
      pollfd fds[] = {{stream, POLLOUT, 0}};
      ::poll(fds, 1, -1);
      continue;
    }
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
  return true;
}

int exit_status(const contract::CallOutcome& outcome, bool interrupted) {
  if (interrupted) return kInterrupted;
  if (outcome.timed_out) return kTimedOut;
  if (outcome.return_code >= 0) return outcome.return_code & 255;
  if (outcome.limit != contract::Limit::kNone || outcome.return_code == -1) return kKilled;
  return 128 - outcome.return_code;
}

void hand_out_files(Session& session) {
  for (const contract::FileReference& file : session.snapshot.update(session.workspace(), kMostFiles).files) {
    const auto opened = open_for_read(session.workspace(), file.filename);
    const auto* found = std::get_if<OpenedFile>(&opened);
    if (found == nullptr) continue;  // gone again, by what runs on in the background
    wire::Writer message(wire::Type::kRunFile, 0);
    const int fd = found->fd.get();
    if (!sys::send_packet_patiently(kCommandChannel, message.text(file.filename).packet(), std::span(&fd, 1), kPatienceMs)) {
      throw std::runtime_error("the command does not take the files");
    }
  }
}

int run(const util::Settings& settings, WardenClient& warden, const sigset_t& watched) {
  std::vector<Input> inputs;
  const Program program = receive_program(inputs);
  const auto session = std::make_shared<Session>(warden.lease(util::image_index(settings, program.image)), "", settings.session_idle_timeout_s, settings.session_max_lifetime_s);
  for (const Input& input : inputs) put_file(*session, input.name, input.file.get());
  const auto interrupted = std::make_shared<std::atomic<bool>>(false);
  std::thread([session, interrupted, watched] {
    int signal = 0;
    while (::sigwait(&watched, &signal) != 0) {
    }
    *interrupted = true;
    session->close();
  }).detach();  // ends with the process
  JailCall call(settings, warden, *session, kCommandChannel, nullptr);
  const auto print_to = [&session](int stream) {
    return [&session, stream](std::string_view bytes) {
      if (!print(stream, bytes)) session->close();
    };
  };
  call.listen(print_to(STDOUT_FILENO), print_to(STDERR_FILENO));
  const contract::CallOutcome outcome = call.run(program.tool, program.source, program.timeout);
  if (!session->closed()) {
    print(STDERR_FILENO, outcome.notice);
    hand_out_files(*session);
  }
  warden.release(session->lease());
  return exit_status(outcome, *interrupted);
}

}  // namespace

int run_main(const util::Settings& settings) {
  sys::check(::prctl(PR_SET_NAME, "runner"), "name the process");
  sigset_t watched;
  sigemptyset(&watched);
  for (const int signal : {SIGTERM, SIGINT}) sigaddset(&watched, signal);
  sys::check(::sigprocmask(SIG_BLOCK, &watched, nullptr), "block signals");
  ::signal(SIGPIPE, SIG_IGN);
  ::close(wire::kServerSupervisorChannel);
  log::start(settings, "runner");
  give_up_privileges(settings);
  wait_for_start(wire::kServerWardenChannel);
  WardenClient warden(sys::UniqueFd(wire::kServerWardenChannel), [] { ::_exit(1); });
  wire::Writer message(wire::Type::kRunEnded, 0);
  const int status = run(settings, warden, watched);
  return sys::send_packet(kCommandChannel, message.i32(status).packet()) ? 0 : 1;
}

}  // namespace rookery::server

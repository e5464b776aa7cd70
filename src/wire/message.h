// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

// Messages between rookery's own processes. Every channel is a SOCK_SEQPACKET socket pair, so one
// send is one message and garbage in one message cannot shift the next. A message is a fixed header
// and a payload; both ends run on one machine, so integers are in host byte order.
//
//   server  <-> warden   warden_*   lease a session, restart its interpreter, kill it, release it, statistics
//   server  <-> init     init_*     run bash, interrupt, end processes; exits come back
//   server  <-> REPL     repl_*     run source text; the return code comes back
//   warden  <-> init     start_*    set-up reports and "start an interpreter"
//   warden  <-> zygote   fork_*     make an interpreter in a jail
//   `rookery run` <-> its runner   run_*   a program and its files
//
// What comes from a jail (init, REPL) is untrusted: `parse` checks the header, and every payload is
// read with `Reader`, which never reads past the end.
namespace rookery::wire {

constexpr std::uint32_t kMagic = 0x524b5731;          // "RKW1"
constexpr std::size_t kMaxPayload = 32 * 1024;        // bytes; longer text travels in a sealed memfd
constexpr std::size_t kMaxDescriptors = 16;           // SCM_RIGHTS descriptors with one message

enum class Type : std::uint16_t {
  // server -> warden. Payloads: see warden_messages.h.
  kLease = 1,
  kRestartRepl,
  kKill,
  kRelease,
  kStats,
  // warden -> server
  kLeased = 16,
  kReplRestarted,
  kKilled,
  kReleased,
  kStatistics,
  kFailed,      // payload: text
  kJailDied,    // a jail ended without being asked to; payload: u64 lease
  // server -> init
  kRunBash = 32,   // payload: command text, or empty with one descriptor (sealed memfd)
  kInterrupt,      // SIGINT to the interpreter's main thread; no payload
  kEndProcesses,   // payload: u32 EndScope
  // init -> server
  kBashExited = 48,  // payload: i32 wait status, u32 count of processes left over from it (0 or 1: "some")
  kReplExited,       // payload: i32 wait status
  kProcessesEnded,   // payload: u32 1 when the interpreter was ended too
  // server -> REPL
  kRunCode = 64,  // payload: source text (UTF-8), or empty with one descriptor (sealed memfd)
  // REPL -> server
  kReplReady = 80,  // no payload
  kCodeFinished,    // payload: i32 return code, u32 errno of an uncaught OSError (0: none; ENOMEM: MemoryError)
  // warden -> init
  // One descriptor: the interpreter's end of its channel to the server. Or none and i32 pid: it was made by the zygote.
  kStartRepl = 96,
  // init -> warden
  kJailReady = 112,  // no payload: set-up done, init runs
  kSetupFailed,      // payload: text that says which step failed
  kSetupTimes,       // payload: text, a line a step of the set-up: name, tab, nanoseconds
  // warden -> zygote; the nonce is the jail's
  kForkRepl = 128,  // payload: u32 uid inside, u32 1 when the jail has a user namespace; descriptors: ForkDescriptor
  // zygote -> warden
  kZygoteReady = 144,  // payload: text, what was preloaded
  kForked,             // payload: i32 pid inside the jail
  kForkFailed,         // payload: text
  // `rookery run` -> its runner, all before the start
  kRunProgram = 160,  // payload: u32 1 for bash, else Python, u32 seconds, text image; descriptor: memfd with the source text
  kRunInput,          // payload: text name in the workspace; descriptor: a file that is open for reading
  kRunStart,          // no payload
  // runner -> `rookery run`
  kRunFile = 176,  // payload: text path below the workspace; descriptor: a file that the program made, open for reading
  kRunEnded,       // payload: i32 exit status
};

// Descriptors of kForkRepl; from kForkCgroups on, one writable cgroup.procs a hierarchy.
enum ForkDescriptor : unsigned { kForkInit = 0, kForkChannel, kForkOutput, kForkError, kForkCgroups };

// How much kEndProcesses ends. The init itself always stays.
enum class EndScope : std::uint32_t {
  kAllButReplTree = 1,  // everything except the interpreter and its descendants (a bash call's time-out)
  kAllButRepl = 2,      // everything except the interpreter process itself (after an interrupt that worked)
  kEverything = 3,      // everything
};

struct Header {
  std::uint32_t magic = kMagic;
  Type type{};
  std::uint16_t cpu = 0;     // kRunCode: 1 + the processor that the sender waits on (sys/cpu_pin.h); 0: none, as in all others
  std::uint64_t nonce = 0;   // answers repeat their request's; unguessable where a jail answers
  std::uint32_t length = 0;  // payload bytes that follow
  std::uint32_t reserved = 0;
};
static_assert(sizeof(Header) == 24);

struct Message {
  Header header;
  std::string_view payload;  // points into the buffer that was parsed
};

// The header and payload of one received packet, or nothing when it is not exactly one well-formed message.
[[nodiscard]] std::optional<Message> parse(std::span<const std::byte> packet) noexcept;

// Builds one packet.
class Writer {
 public:
  Writer(Type type, std::uint64_t nonce, std::uint16_t cpu = 0);
  Writer& u32(std::uint32_t value);
  Writer& i32(std::int32_t value);
  Writer& u64(std::uint64_t value);
  Writer& text(std::string_view value);  // length-prefixed
  Writer& raw(std::string_view value);   // the rest of the payload, without a length

  // The finished packet; valid while the Writer lives. Throws std::length_error past kMaxPayload.
  [[nodiscard]] std::span<const std::byte> packet();

 private:
  std::vector<std::byte> bytes_;
};

// Reads a payload field by field. After the first field that does not fit, ok() stays false and
// every further read gives 0 or "".
class Reader {
 public:
  explicit Reader(std::string_view payload) noexcept : rest_(payload) {}
  std::uint32_t u32() noexcept;
  std::int32_t i32() noexcept;
  std::uint64_t u64() noexcept;
  std::string_view text() noexcept;
  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] bool done() const noexcept { return ok_ && rest_.empty(); }

 private:
  bool take(void* to, std::size_t size) noexcept;
  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace rookery::wire

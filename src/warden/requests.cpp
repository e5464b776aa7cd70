// SPDX-License-Identifier: Apache-2.0
#include "warden/requests.h"

#include <cerrno>
#include <stdexcept>

#include "sys/error.h"
#include "sys/socket.h"
#include "wire/warden_messages.h"

namespace rookery::warden {

namespace {

constexpr int kPatienceMs = 5000;

[[noreturn]] void violation(const char* what) {
  throw std::runtime_error(std::string("the server broke the protocol with the warden: ") + what);
}

struct Row {
  wire::Type type;
  enum { kNothing, kLease, kImage } payload;  // u64 lease, or u32 image
  void (*handle)(Requests& requests, Pool& pool, std::uint64_t nonce, std::uint64_t lease_or_image);
};

void restart_interpreter(Requests& requests, Pool& pool, std::uint64_t nonce, std::uint64_t lease) {
  JailProcess* jail = pool.leased(lease);
  if (jail == nullptr || jail->state != JailProcess::State::kLeased) {
    requests.failed(nonce, "the jail has ended");
    return;
  }
  try {
    const sys::UniqueFd channel = pool.restart_interpreter(*jail);
    wire::Writer message(wire::Type::kReplRestarted, nonce);
    const int fd = channel.get();
    requests.send(message.u64(lease), std::span(&fd, 1));
  } catch (const std::exception& error) {
    requests.failed(nonce, error.what());
  }
}

// Each row with the argument why a compromised server gains nothing by it.
constexpr Row kTable[] = {
    // A jail like any other, of an image that the operator named, under limits the server cannot choose; at most slot_count() of them.
    {wire::Type::kLease, Row::kImage, [](Requests&, Pool& pool, std::uint64_t nonce, std::uint64_t image) { pool.lease(nonce, image); }},
    // The recipe is the init's; the server only gets the other end of the new channel.
    {wire::Type::kRestartRepl, Row::kLease, &restart_interpreter},
    // Ends and rebuilds a jail of the server's own.
    {wire::Type::kKill, Row::kLease, [](Requests&, Pool& pool, std::uint64_t nonce, std::uint64_t lease) { pool.rebuild(nonce, lease); }},
    // Ends a session of the server's own; its number is never given again.
    {wire::Type::kRelease, Row::kLease, [](Requests&, Pool& pool, std::uint64_t nonce, std::uint64_t lease) { pool.release(nonce, lease); }},
    // A few numbers.
    {wire::Type::kStats, Row::kNothing, [](Requests& requests, Pool& pool, std::uint64_t nonce, std::uint64_t) { requests.statistics(nonce, pool); }},
};

}  // namespace

bool Requests::serve(Pool& pool) {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  for (;;) {
    const sys::Received received = sys::receive_packet(channel_.get(), buffer);
    if (received.size < 0 && errno == EAGAIN) return true;
    if (received.size <= 0) return false;
    const auto message = wire::parse({buffer, static_cast<std::size_t>(received.size)});
    if (received.truncated || !message) violation("a malformed message");
    const Row* row = nullptr;
    for (const Row& candidate : kTable) {
      if (candidate.type == message->header.type) row = &candidate;
    }
    if (row == nullptr) violation("an unknown request");
    wire::Reader reader(message->payload);
    const std::uint64_t named = row->payload == Row::kLease ? reader.u64() : row->payload == Row::kImage ? reader.u32() : 0;
    if (!reader.done()) violation("a payload of the wrong size");
    if (row->payload == Row::kImage && named >= pool.images().size()) violation("an image that does not exist");
    row->handle(*this, pool, message->header.nonce, named);
  }
}

void Requests::leased(std::uint64_t nonce, wire::Type type, std::uint64_t lease, const JailProcess& jail) {
  wire::Writer message(type, nonce);
  message.u64(lease).text(jail.id()).text(jail.image().name);
  const std::vector<int> fds = jail.lease_descriptors();
  send(message, fds);
}

void Requests::answer(std::uint64_t nonce, wire::Type type, std::uint64_t lease) {
  wire::Writer message(type, nonce);
  send(message.u64(lease));
}

void Requests::statistics(std::uint64_t nonce, const Pool& pool) {
  wire::Writer message(wire::Type::kStatistics, nonce);
  message.u32(pool.images().ready()).u32(pool.count()).u32(pool.nested() ? 1 : 0).u32(pool.images().zygote_starts());
  message.u32(exporter_ != nullptr && exporter_->running() ? 1 : 0).u32(exporter_ != nullptr ? exporter_->restarts() : 0);
  send(message);
}

void Requests::failed(std::uint64_t nonce, const std::string& why) {
  wire::Writer message(wire::Type::kFailed, nonce);
  send(message.text(why.substr(0, 1024)));
}

void Requests::send(wire::Writer& message, std::span<const int> descriptors) {
  // The server reads answers in a thread of its own; one that is this far behind has stopped doing so.
  if (!sys::send_packet_patiently(channel_.get(), message.packet(), descriptors, kPatienceMs)) sys::throw_errno("answer the server");
}

}  // namespace rookery::warden

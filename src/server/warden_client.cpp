// SPDX-License-Identifier: Apache-2.0
#include "server/warden_client.h"

#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <stdexcept>

#include "sys/error.h"
#include "sys/socket.h"
#include "wire/warden_messages.h"

namespace rookery::server {

WardenClient::WardenClient(sys::UniqueFd channel, std::function<void()> on_lost)
    : channel_(std::move(channel)),
      on_lost_(std::move(on_lost)),
      stop_(sys::check(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), "eventfd")),
      reader_([this] { read_answers(); }) {}

WardenClient::~WardenClient() {
  ::eventfd_write(stop_.get(), 1);
  reader_.join();
}

std::uint64_t WardenClient::next_nonce() {
  const std::lock_guard lock(mutex_);
  return ++last_nonce_;
}

Lease WardenClient::lease(std::uint32_t image, std::chrono::milliseconds patience) {
  const std::uint64_t nonce = next_nonce();
  wire::Writer message(wire::Type::kLease, nonce);
  message.u32(image);
  return read_lease(ask(std::move(message), nonce, wire::Type::kLeased, wire::kLeaseDescriptorCount, patience));
}

// A lease that came too late, or without its descriptors, because this process has too many open: nobody uses it.
void WardenClient::give_back(std::string_view leased) {
  wire::Reader reader(leased);
  wire::Writer message(wire::Type::kRelease, next_nonce());
  message.u64(reader.u64());
  constexpr int kPatienceMs = 1000;
  if (reader.ok()) [[maybe_unused]] const bool sent = sys::send_packet_patiently(channel_.get(), message.packet(), {}, kPatienceMs);
}

Lease WardenClient::rebuild(std::uint64_t lease) {
  const std::uint64_t nonce = next_nonce();
  wire::Writer message(wire::Type::kKill, nonce);
  message.u64(lease);
  return read_lease(ask(std::move(message), nonce, wire::Type::kKilled, wire::kLeaseDescriptorCount));
}

sys::UniqueFd WardenClient::restart_interpreter(std::uint64_t lease) {
  const std::uint64_t nonce = next_nonce();
  wire::Writer message(wire::Type::kRestartRepl, nonce);
  message.u64(lease);
  return std::move(ask(std::move(message), nonce, wire::Type::kReplRestarted, 1).descriptors.front());
}

void WardenClient::release(std::uint64_t lease) {
  const std::uint64_t nonce = next_nonce();
  wire::Writer message(wire::Type::kRelease, nonce);
  message.u64(lease);
  ask(std::move(message), nonce, wire::Type::kReleased, 0);
}

WardenClient::Statistics WardenClient::statistics(std::chrono::milliseconds patience) {
  const std::uint64_t nonce = next_nonce();
  const Answer answer = ask(wire::Writer(wire::Type::kStats, nonce), nonce, wire::Type::kStatistics, 0, patience);
  wire::Reader reader(answer.payload);
  Statistics statistics;
  statistics.ready = reader.u32();
  statistics.jails = reader.u32();
  statistics.nested = reader.u32() != 0;
  statistics.zygote_starts = reader.u32();
  statistics.exporter_up = reader.u32() != 0;
  statistics.exporter_restarts = reader.u32();
  return statistics;
}

Lease WardenClient::read_lease(Answer answer) {
  wire::Reader reader(answer.payload);
  Lease lease;
  lease.number = reader.u64();
  lease.session_id = reader.text();
  lease.image = reader.text();
  if (!reader.done()) throw std::runtime_error("the warden's answer is malformed");
  lease.descriptors = std::move(answer.descriptors);
  return lease;
}

WardenClient::Answer WardenClient::ask(wire::Writer message, std::uint64_t nonce, wire::Type expected, std::size_t descriptors,
                                       std::chrono::milliseconds patience) {
  {
    const std::lock_guard lock(mutex_);
    waiting_.try_emplace(nonce);
  }
  // Without the lock: the warden may be waiting for the reading thread, which needs it, to take an answer.
  const bool sent = sys::send_packet_patiently(channel_.get(), message.packet(), {}, static_cast<int>(patience.count()));
  std::unique_lock lock(mutex_);
  const auto answered = [&] { return lost_ || waiting_[nonce].answer.has_value(); };
  const bool in_time = sent && answered_.wait_for(lock, patience, answered);
  std::optional<Answer> answer = std::move(waiting_[nonce].answer);
  waiting_.erase(nonce);
  if (!in_time || !answer) throw std::runtime_error("the warden does not answer");
  if (answer->type == wire::Type::kFailed) {
    wire::Reader reader(answer->payload);
    throw std::runtime_error(std::string(reader.text()));
  }
  if (answer->type != expected || answer->descriptors.size() != descriptors) {
    lock.unlock();
    if (answer->type == wire::Type::kLeased) give_back(answer->payload);
    throw std::runtime_error("the warden's answer is malformed");
  }
  return std::move(*answer);
}

void WardenClient::read_answers() {
  std::byte buffer[sizeof(wire::Header) + wire::kMaxPayload];
  for (;;) {
    pollfd fds[] = {{channel_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
    if (::poll(fds, 2, -1) < 0) continue;
    if (fds[1].revents != 0) return;
    sys::Received received = sys::receive_packet(channel_.get(), buffer, wire::kMaxDescriptors);
    if (received.size < 0 && errno == EAGAIN) continue;
    const auto message = received.size > 0 ? wire::parse({buffer, static_cast<std::size_t>(received.size)}) : std::nullopt;
    bool nobody_waits = false;
    {
      const std::lock_guard lock(mutex_);
      if (!message) {
        lost_ = true;
      } else if (const auto found = waiting_.find(message->header.nonce); found != waiting_.end()) {
        found->second.answer = Answer{message->header.type, std::string(message->payload), std::move(received.descriptors)};
      } else {
        nobody_waits = true;
      }
    }
    if (nobody_waits && message->header.type == wire::Type::kLeased) give_back(message->payload);
    answered_.notify_all();
    if (!message) {
      on_lost_();
      return;
    }
  }
}

}  // namespace rookery::server

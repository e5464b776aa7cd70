// SPDX-License-Identifier: Apache-2.0
#include "server/jail_link.h"

#include <stdexcept>

#include "sys/socket.h"
#include "wire/warden_messages.h"

namespace rookery::server {

void JailLink::take(Lease taken) {
  if (taken.descriptors.size() != wire::kLeaseDescriptorCount) throw std::runtime_error("a lease without its descriptors");
  lease = taken.number;
  init = std::move(taken.descriptors[wire::kInitChannel]);
  repl = std::move(taken.descriptors[wire::kReplChannel]);
  out = std::move(taken.descriptors[wire::kStdout]);
  err = std::move(taken.descriptors[wire::kStderr]);
  workspace = std::move(taken.descriptors[wire::kWorkspace]);
  cpu_usage = std::move(taken.descriptors[wire::kCpuUsage]);
  memory_events = std::move(taken.descriptors[wire::kMemoryEvents]);
  pids_events = std::move(taken.descriptors[wire::kPidsEvents]);
  memory_usage = std::move(taken.descriptors[wire::kMemoryUsage]);
  pids_current = std::move(taken.descriptors[wire::kPidsCurrent]);
  repl_ready = true;
  jail_lost = false;
}

bool send_text(int channel, wire::Type type, std::uint64_t nonce, std::string_view text, int cpu) {
  wire::Writer message(type, nonce, static_cast<std::uint16_t>(cpu + 1));
  if (text.size() <= wire::kMaxPayload) {
    message.raw(text);
    return sys::send_packet(channel, message.packet());
  }
  const sys::UniqueFd file = sys::sealed_memfd("rookery-source", text);
  const int fd = file.get();
  return sys::send_packet(channel, message.packet(), std::span(&fd, 1));
}

}  // namespace rookery::server

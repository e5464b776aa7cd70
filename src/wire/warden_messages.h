// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Payloads of the server <-> warden channel (types in message.h). A request names a session by its
// slot and never carries a path, an argv or a uid. The nonce is the request's number, so that answers may
// come in any order.
//
//   kLease        text image (at most 64 bytes)   -> kLeased | kFailed
//   kRestartRepl  u32 slot                        -> kReplRestarted | kFailed
//   kKill         u32 slot                        -> kKilled (the jail was ended and built anew) | kFailed
//   kRelease      u32 slot                        -> kReleased, once every process of the jail is dead
//   kStats        -                               -> kStatistics
//
//   kLeased, kKilled     u32 slot, text session id, text image; descriptors in the order of LeaseDescriptor.
//                        kKilled keeps slot, id and workspace; the other descriptors are new.
//   kReplRestarted       u32 slot; one descriptor: the new channel to the interpreter
//   kReleased            u32 slot
//   kStatistics          u32 ready jails, u32 jails
//   kJailDied            u32 slot (nonce 0): the init of a leased jail ended; the server answers with kKill or kRelease
namespace rookery::wire {

enum LeaseDescriptor : unsigned {
  kInitChannel = 0,    // SOCK_SEQPACKET to the jail's init
  kReplChannel,        // SOCK_SEQPACKET to the interpreter
  kStdout,             // read ends of the pipes that are fds 1 and 2 of everything in the jail; O_NONBLOCK
  kStderr,
  kWorkspace,          // O_DIRECTORY of /workspace
  kCpuUsage,           // cgroup v1 cpuacct.usage (nanoseconds) or v2 cpu.stat ("usage_usec N" line)
  kMemoryEvents,       // v1 memory.oom_control or v2 memory.events: both have a line "oom_kill N"
  kPidsEvents,         // v1 and v2 pids.events: a line "max N"
  kLeaseDescriptorCount,
};

}  // namespace rookery::wire

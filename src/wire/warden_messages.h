// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

// Payloads of the server <-> warden channel (types in message.h). A request names an image by its place in the
// settings (0: the default; then SANDBOX_IMAGES in order), and a session by the number of its
// lease, which is never used again, and never carries a path, an argv or a uid: a request that comes late names
// nothing, and is answered by kFailed. The nonce is the request's number, so that answers may come in any order.
//
//   kLease        u32 image                       -> kLeased | kFailed
//   kRestartRepl  u64 lease                       -> kReplRestarted | kFailed
//   kKill         u64 lease                       -> kKilled (the jail was ended and built anew) | kFailed
//   kRelease      u64 lease                       -> kReleased, once every process of the jail is dead | kFailed
//   kStats        -                               -> kStatistics
//
//   kLeased, kKilled     u64 lease, text session id, text image; descriptors in the order of LeaseDescriptor.
//                        kKilled keeps lease, id and workspace; the other descriptors are new.
//   kReplRestarted       u64 lease; one descriptor: the new channel to the interpreter
//   kReleased            u64 lease
//   kStatistics          u32 ready jails, u32 jails, u32 1 when jails have user namespaces of their own, u32 zygotes that
//                        became ready so far, u32 1 while the exporter runs, u32 exporters that were started again
//   kJailDied            u64 lease (nonce 0): the init of a leased jail ended; the server answers with kKill or kRelease
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
  kMemoryUsage,        // v1 memory.usage_in_bytes or v2 memory.current: bytes
  kPidsCurrent,        // pids.current: processes and threads
  kLeaseDescriptorCount,
};

}  // namespace rookery::wire

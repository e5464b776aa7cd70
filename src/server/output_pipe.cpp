// SPDX-License-Identifier: Apache-2.0
#include "server/output_pipe.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rookery::server {

namespace {
constexpr int kUsualBytes = 64 * 1024;
}

OutputPipe::~OutputPipe() {
  // The kernel bounds the pages that all pipes of a user may hold; the session keeps no more than its share. Refused while
  // something is in it, which is the next call's then.
  if (enlarged_ >= 0 && enlarged_ == pipe_.get()) ::fcntl(enlarged_, F_SETPIPE_SZ, kUsualBytes);
}

bool OutputPipe::read(int most_reads) {
  static thread_local char buffer[kReadSize];
  for (int reads = 0; reads < most_reads; ++reads) {
    const ssize_t size = ::read(pipe_.get(), buffer, sizeof buffer);
    if (size < 0) return errno == EAGAIN || errno == EINTR;
    if (size == 0) return false;
    kept_.append({buffer, static_cast<std::size_t>(size)});
    if (listener_) listener_({buffer, static_cast<std::size_t>(size)});
    if (static_cast<std::size_t>(size) < sizeof buffer / 2) return true;
    if (size == sizeof buffer && enlarged_ != pipe_.get()) {
      // A program that fills the pipe would wait for every read. Where the kernel refuses, it does.
      enlarged_ = pipe_.get();
      ::fcntl(enlarged_, F_SETPIPE_SZ, static_cast<int>(kMostBytes));
    }
  }
  return true;
}

}  // namespace rookery::server

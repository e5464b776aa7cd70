// SPDX-License-Identifier: Apache-2.0
#include "telemetry/export_counts.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sys/error.h"

namespace rookery::telemetry {

void ExportCounts::drop_what_was_received() noexcept {
  for (const Signal signal : kSignals) {
    const std::size_t i = index(signal);
    dropped[i] += received[i] - exported[i] - dropped[i] - failed[i];
  }
}

sys::UniqueFd make_export_counts() {
  sys::UniqueFd fd(sys::check(::memfd_create("export counts", MFD_CLOEXEC | MFD_ALLOW_SEALING), "memfd_create"));
  sys::check(::ftruncate(fd.get(), sizeof(ExportCounts)), "size a memfd");
  sys::check(::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW), "seal a memfd");
  return fd;
}

ExportCounts& map_export_counts(int fd) {
  void* const place = ::mmap(nullptr, sizeof(ExportCounts), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (place == MAP_FAILED) sys::throw_errno("map the counts of the telemetry");
  return *static_cast<ExportCounts*>(place);
}

}  // namespace rookery::telemetry

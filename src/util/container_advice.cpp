// SPDX-License-Identifier: Apache-2.0
#include "util/container_advice.h"

#include <unistd.h>

#include <cstdlib>
#include <fstream>

namespace rookery::util {

bool in_container() noexcept {
  // Docker's mark, Podman's, and what Kubernetes and systemd-nspawn set.
  return ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0 ||
         std::getenv("KUBERNETES_SERVICE_HOST") != nullptr || std::getenv("container") != nullptr;
}

std::string restriction_advice() {
  static constexpr const char* kSetting = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";
  int restricted = 0;
  if (!(std::ifstream(kSetting) >> restricted) || restricted == 0) return "";
  return std::string("; this machine's AppArmor restricts user namespaces (kernel.apparmor_restrict_unprivileged_userns): load the profile "
                     "container/apparmor/rookery of rookery's source ") +
         (in_container() ? "and add --security-opt apparmor=rookery, or add --cap-add SYS_ADMIN" : "and start rookery as /usr/local/bin/rookery, or start it as root");
}

std::string container_advice() {
  if (!in_container()) return "";
  return "\nrookery: in a container, add --security-opt seccomp=docker-seccomp.json (from container/ of rookery's source), "
         "--security-opt systempaths=unconfined (podman: unmask=ALL) and, on a host with AppArmor, --security-opt apparmor=unconfined; "
         "or --privileged. README, \"In a container\", has the whole command";
}

}  // namespace rookery::util

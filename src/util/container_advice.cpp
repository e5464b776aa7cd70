// SPDX-License-Identifier: Apache-2.0
#include "util/container_advice.h"

#include <unistd.h>

#include <cstdlib>

namespace rookery::util {

bool in_container() noexcept {
  // Docker's mark, Podman's, and what Kubernetes and systemd-nspawn set.
  return ::access("/.dockerenv", F_OK) == 0 || ::access("/run/.containerenv", F_OK) == 0 ||
         std::getenv("KUBERNETES_SERVICE_HOST") != nullptr || std::getenv("container") != nullptr;
}

std::string container_advice() {
  if (!in_container()) return "";
  return "\nrookery: in a container, add --security-opt seccomp=docker-seccomp.json (from container/ of rookery's source), "
         "--security-opt systempaths=unconfined (podman: unmask=ALL) and, on a host with AppArmor, --security-opt apparmor=unconfined; "
         "or --privileged. README, \"In a container\", has the whole command";
}

}  // namespace rookery::util

# SPDX-License-Identifier: Apache-2.0
# install_packages NAME...: installs those that are missing, quietly; needs root on Debian.
install_packages() {
  missing=""
  for package in "$@"; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
  done
  [ -z "$missing" ] && return 0
  echo "installing:$missing" >&2
  export DEBIAN_FRONTEND=noninteractive
  # shellcheck disable=SC2086
  { apt-get update -q && apt-get install -q -y --no-install-recommends $missing; } >&2
}

BUILD_PACKAGES="g++ meson ninja-build pkg-config libseccomp-dev libcap-dev libcpp-httplib-dev rapidjson-dev libspdlog-dev doctest-dev python3 python3-dev"
TEST_PACKAGES="clang git libclang-rt-dev procps util-linux iproute2 uidmap passwd python3-venv chromium-headless-shell python3-yaml"
# To boot the guest of tests/vm. Where they cannot be had that suite is skipped, and says so.
VM_PACKAGES="qemu-system-x86 busybox-static cpio"
# An engine for the tests of the image, and what makes its base where no registry answers.
CONTAINER_PACKAGES="docker.io iproute2 iptables debootstrap"

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

# unpack_package NAME DIRECTORY: puts a Debian package's files there without installing it: none of its scripts run, so no
# service is started.
unpack_package() {
  [ -d "$2" ] && return 0
  into=$(mktemp -d)
  if (cd "$into" && { apt-get download -q "$1" || { apt-get update -q && apt-get download -q "$1"; }; } && dpkg-deb -x ./*.deb files) >&2; then
    mkdir -p "$(dirname "$2")" && mv "$into/files" "$2"
  else
    echo "the package $1 cannot be downloaded" >&2
  fi
  rm -rf "$into"
}

BUILD_PACKAGES="g++ meson ninja-build pkg-config libseccomp-dev libcap-dev libcpp-httplib-dev rapidjson-dev libspdlog-dev doctest-dev python3 python3-dev"
TEST_PACKAGES="clang git libclang-rt-dev procps util-linux iproute2 uidmap passwd python3-venv chromium-headless-shell python3-yaml openssl groff-base mandoc systemd"
# To boot the guest of tests/vm. Where they cannot be had that suite is skipped, and says so.
VM_PACKAGES="qemu-system-x86 busybox-static cpio zstd"
# What a machine with systemd has, for the guest that runs it (--long).
GUEST_PACKAGES="systemd dbus libpam-systemd"
# An engine for the tests of the image, and what makes its base where no registry answers.
CONTAINER_PACKAGES="docker.io iproute2 iptables debootstrap"
# The proxy before many nodes, and root file systems of other releases.
TEST_PACKAGES="$TEST_PACKAGES haproxy debootstrap"
# To build for another machine and run what its programs can without its kernel.
ARM64_PACKAGES="g++-aarch64-linux-gnu qemu-user-static debootstrap"

# SPDX-License-Identifier: Apache-2.0
"""What Ubuntu 24.04 was released with, as far as tests need it: packages that stay where they are, known by their checksums and unpacked
below a directory. Nothing is installed."""

import hashlib
import os
import pathlib
import shutil
import subprocess
import tempfile
import urllib.request

from debian_kernel import Unavailable

MIRROR = os.environ.get("ROOKERY_TEST_UBUNTU_MIRROR", "http://archive.ubuntu.com/ubuntu")
KERNEL = {
    "pool/main/l/linux-signed/linux-image-6.8.0-31-generic_6.8.0-31.31_amd64.deb": "fd2ed023c84163e62c73d3b7b613a9b004bd31e335641c23d42bd249e489fbe6",
    "pool/main/l/linux/linux-modules-6.8.0-31-generic_6.8.0-31.31_amd64.deb": "3f17f2c279257eb50e40da44390bdf8272c440ca078831c348773d1314b5c2fe",
}
APPARMOR = {"pool/main/a/apparmor/apparmor_4.0.0-beta3-0ubuntu3_amd64.deb": "d783c4183840745b931b72a9df8c15d341f640efa6f3069e5935c1b6542ff840"}


def download(path, checksum, to):
    try:
        with urllib.request.urlopen("%s/%s" % (MIRROR, path), timeout=60) as answer, open(to, "wb") as file:
            shutil.copyfileobj(answer, file)
    except OSError as error:
        raise Unavailable("cannot download %s from %s: %s" % (path.rpartition("/")[2], MIRROR, error)) from error
    if hashlib.sha256(to.read_bytes()).hexdigest() != checksum:
        raise Unavailable("%s from %s is not what it should be" % (path.rpartition("/")[2], MIRROR))


def unpacked(packages, place):
    """The directory `place` with what the packages hold; downloaded once. Throws Unavailable."""
    if place.is_dir():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as scratch:
        package, files = pathlib.Path(scratch) / "package", pathlib.Path(scratch) / "files"
        for path, checksum in packages.items():
            download(path, checksum, package)
            subprocess.run(["dpkg-deb", "-x", package, files], check=True)
        files.rename(place)
    return place


def kernel(cache):
    return unpacked(KERNEL, cache / "kernel-ubuntu")


def apparmor(cache):
    return unpacked(APPARMOR, cache / "apparmor-ubuntu")

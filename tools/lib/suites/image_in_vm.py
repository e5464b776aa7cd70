# SPDX-License-Identifier: Apache-2.0
"""The image with Docker on cgroup v2 and AppArmor, in the machine of tests/vm with the kernel of Debian 13: tests/vm/test_image.py.

Debian 12's kernel and parser do not know AppArmor's user namespace rules, which container/apparmor/rookery has."""

import pathlib
import sys
import tempfile

from . import image_build
from .tally import fail, skip
from .vm_suite import Boot, run_boot

SUITE = "trixie"
SECONDS = 2000
COMPILE = ("apt-get update -q && apt-get install -q -y --no-install-recommends apparmor"
           " && apparmor_parser -Q -K -M /etc/apparmor.d/abi/4.0 -o /to/apparmor /from/rookery")


def compiled_profile(source, directory):
    """By the parser of Debian 13, in the image itself."""
    image_build.engine.docker("run", "--rm", "--network", "host", "-v", "%s:/from:ro" % (source / "container" / "apparmor"), "-v", "%s:/to" % directory,
                              "--entrypoint", "sh", image_build.IMAGE, "-ec", COMPILE, timeout=300)
    return directory / "apparmor"


def layers():
    """The directories of the image's layers. The guest sees this machine's files."""
    data = image_build.engine.inspect(image_build.IMAGE)["GraphDriver"]["Data"]
    return [name.removesuffix("/diff") for name in (data["UpperDir"] + ":" + data["LowerDir"]).split(":")]


def image_in_vm(source, build, environment):
    """Needs the engine with the image. Gives a tally."""
    sys.path.insert(0, str(source / "tests" / "vm"))
    import machine

    with tempfile.TemporaryDirectory(prefix="rookery-image-", dir="/var/tmp") as scratch:
        try:
            profile = compiled_profile(source, pathlib.Path(scratch))
        except AssertionError as error:
            return fail("container/apparmor/rookery cannot be compiled: %s" % error)
        boot = Boot("the image, cgroup v2 and AppArmor", ["vm/test_image"], suite=SUITE, seconds=SECONDS,
                    settings={"ROOKERY_TEST_LAYERS": ":".join(layers()), "ROOKERY_TEST_APPARMOR": str(profile)})
        try:
            return run_boot(machine, build / "vm", build / "rookery", boot, environment)
        except machine.Unavailable as reason:
            return skip("the image on cgroup v2: %s" % reason)

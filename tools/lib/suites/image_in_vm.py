# SPDX-License-Identifier: Apache-2.0
"""The image with Docker on cgroup v2 and AppArmor, in the machine of tests/vm: tests/vm/test_image.py with the kernel of Debian 13, because
Debian 12's does not know AppArmor's user namespace rules, which container/apparmor/rookery has; tests/vm/test_restricted_image.py with Ubuntu's,
which can restrict them."""

import pathlib
import shutil
import sys
import tempfile

from . import image_build
from .tally import Tally, fail, skip
from .vm_suite import RESTRICTED, Boot, run_boot

SECONDS = 2000
COMPILE = ("apt-get update -q && apt-get install -q -y --no-install-recommends apparmor && cd /to && for profile in *;"
           " do apparmor_parser -Q -K -M /etc/apparmor.d/abi/4.0 -o $profile.compiled $profile; done")


def compile_profiles(directory, *profiles):
    """By the parser of Debian 13, in the image itself. Gives the compiled files, in `directory`."""
    for profile in profiles:
        shutil.copy(profile, directory)
    image_build.engine.docker("run", "--rm", "--network", "host", "-v", "%s:/to" % directory, "--entrypoint", "sh", image_build.IMAGE, "-ec", COMPILE, timeout=300)
    return [str(directory / (profile.name + ".compiled")) for profile in profiles]


def layers():
    """The directories of the image's layers. The guest sees this machine's files."""
    data = image_build.engine.inspect(image_build.IMAGE)["GraphDriver"]["Data"]
    return [name.removesuffix("/diff") for name in (data["UpperDir"] + ":" + data["LowerDir"]).split(":")]


def image_in_vm(source, build, environment):
    """Needs the engine with the image. Gives a tally."""
    sys.path.insert(0, str(source / "tests" / "vm"))
    import machine
    import ubuntu

    total = Tally()
    boots = [Boot("the image, cgroup v2 and AppArmor", ["vm/test_image"], suite="trixie", seconds=SECONDS)]
    profiles = {"ROOKERY_TEST_APPARMOR": source / "container" / "apparmor" / "rookery"}
    try:
        profiles["ROOKERY_TEST_UNPRIVILEGED"] = ubuntu.apparmor(build / "vm") / "etc" / "apparmor.d" / "unprivileged_userns"
        boots.append(Boot("the image, Ubuntu", ["vm/test_restricted_image"], suite="ubuntu", seconds=SECONDS, sysctl=RESTRICTED))
    except machine.Unavailable as reason:
        total += skip("the image on Ubuntu: %s" % reason)
    with tempfile.TemporaryDirectory(prefix="rookery-image-", dir="/var/tmp") as scratch:
        try:
            compiled = dict(zip(profiles, compile_profiles(pathlib.Path(scratch), *profiles.values())))
        except AssertionError as error:
            return total + fail("AppArmor's profiles cannot be compiled: %s" % error)
        for boot in boots:
            boot.settings.update(compiled, ROOKERY_TEST_LAYERS=":".join(layers()))
            try:
                total += run_boot(machine, build / "vm", build / "rookery", boot, environment)
            except machine.Unavailable as reason:
                total += skip("%s: %s" % (boot.name, reason))
    return total

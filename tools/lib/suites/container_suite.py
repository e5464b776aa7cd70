# SPDX-License-Identifier: Apache-2.0
"""The image: built with an engine of the tests' own and run as the documents say; see tests/container."""

from . import image_build, image_in_vm
from .python_tests import run_module
from .tally import Tally, fail, skip

QUICK = ("test_documents", "test_image")
LONG = ("test_documents", "test_manifests", "test_image", "test_ways", "test_compose", "test_limits_nest", "test_podman")
# Suites of a server on the machine, that hold in a container, too: directory, module, way.
AS_ON_THE_MACHINE = (
    ("escape", "test_escape", "least", {}),
    ("escape", "test_escape", "least, flat jails", {"ROOKERY_TEST_JAIL": "flat"}),
    ("escape", "test_escape", "privileged", {}),
    ("integration", "test_jail", "least", {}),
    ("integration", "test_jail", "least, flat jails", {"ROOKERY_TEST_JAIL": "flat"}),
    ("integration", "test_process_credentials", "privileged", {}),
    ("integration", "test_limits", "least", {}),
)


def container(source, build, building, long, environment):
    """`building`: an image_build.Beside."""
    status, output = building.result()
    if status != 0:
        return skip("container: " + output) if status == 2 else fail("container: no image\n" + output)
    print("  image built", flush=True)
    try:
        with image_build.engine.Engine(image_build.DIRECTORY) as running:
            variables = {**environment, "DOCKER_HOST": running.host, "ROOKERY_TEST_IMAGE": image_build.IMAGE, "ROOKERY_TEST_WAY": "least"}
            total = run_modules(source, long, variables)
            return total + image_in_vm.image_in_vm(source, build, variables) if long else total
    except image_build.engine.Unavailable as reason:
        return fail("container: the engine that built the image does not start again: %s" % reason)


def run_modules(source, long, variables):
    total = Tally()
    for module in LONG if long else QUICK:
        total += told(*run_module(source / "tests" / "container", module, variables))
    for suite, module, way, more in AS_ON_THE_MACHINE if long else ():
        name, tally = run_module(source / "tests" / suite, module, {**variables, **more, "ROOKERY_TEST_WAY": way})
        total += told("%s, %s" % (name, way), tally)
    return total


def told(name, tally):
    print("  %-28s %s" % (name, tally), flush=True)
    return tally

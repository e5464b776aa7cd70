# SPDX-License-Identifier: Apache-2.0
"""The image: built with an engine of the tests' own and run as the documents say; see tests/container."""

import os
import sys

from .python_tests import run_module
from .tally import Tally, fail, run, skip

BUILD_SECONDS = 1500
IMAGE = "rookery:test"
QUICK = ("test_documents", "test_image")
LONG = ("test_documents", "test_manifests", "test_image", "test_ways", "test_compose", "test_limits_nest", "test_podman")
# Suites of a server on the machine, that hold in a container, too: directory, module, way.
AS_ON_THE_MACHINE = (
    ("escape", "test_escape", "least", {}),
    ("escape", "test_escape", "least, flat jails", {"SANDBOX_JAIL_USERNS": "flat"}),
    ("escape", "test_escape", "privileged", {}),
    ("integration", "test_jail", "least", {}),
    ("integration", "test_jail", "least, flat jails", {"ROOKERY_TEST_JAIL": "flat"}),
    ("integration", "test_process_credentials", "privileged", {}),
    ("integration", "test_limits", "least", {}),
)


def build_image(source, client):
    """Throws AssertionError with the end of the output."""
    status, output = run([source / "tools" / "image", IMAGE], BUILD_SECONDS, env={**os.environ, "DOCKER": client})
    if status != 0:
        raise AssertionError("tools/image ended with %d\n%s" % (status, output[-4000:]))


def container(source, build, long, environment):
    sys.path[:0] = [str(source / "tests" / "container"), str(source / "tests" / "integration")]
    import engine

    total = Tally()
    try:
        with engine.Engine(build / "engine") as running:  # what it has built stays there for the next run
            build_image(source, engine.DOCKER)
            print("  image built", flush=True)
            variables = {**environment, "DOCKER_HOST": running.host, "ROOKERY_TEST_IMAGE": IMAGE, "ROOKERY_TEST_WAY": "least"}
            for module in LONG if long else QUICK:
                total += told(*run_module(source / "tests" / "container", module, variables))
            for suite, module, way, more in AS_ON_THE_MACHINE if long else ():
                name, tally = run_module(source / "tests" / suite, module, {**variables, **more, "ROOKERY_TEST_WAY": way})
                total += told("%s, %s" % (name, way), tally)
    except engine.Unavailable as reason:
        return skip("container: %s" % reason)
    except AssertionError as broken:
        return total + fail("container: %s" % broken)
    return total


def told(name, tally):
    print("  %-28s %s" % (name, tally), flush=True)
    return tally

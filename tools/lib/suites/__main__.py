# SPDX-License-Identifier: Apache-2.0
"""Runs the suites that tools/test asks for. The program is built already."""

import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suites import arm64, conformance_suite, container_suite, environment, image_build, native, packages, python_tests, vm_suite  # noqa: E402
from suites.tally import Tally, fail, skip  # noqa: E402

SOURCE = pathlib.Path(__file__).resolve().parents[3]
# Under ThreadSanitizer only the units: it cannot run in a process that has given up what a jail gives up.
SUITES = ("lint", "unit", "policy", "integration", "legit", "http", "api", "escape", "abuse", "conformance", "fuzz", "soak", "vm", "container", "arm64")
LONG_SUITES = ("arm64",)  # with --long only
SLOWNESS = {"none": "1", "address": "4", "thread": "8"}
# No alternate signal stacks: the filters that the tests load refuse them to threads that end.
ASAN_OPTIONS_OF_UNITS = "use_sigaltstack=0:quarantine_size_mb=4"


def variables_for(options):
    values = {"ROOKERY_BINARY": str(options.build / "rookery"), "ROOKERY_TEST_SLOWNESS": SLOWNESS[options.sanitize]}
    if options.sanitize != "none":
        values["UBSAN_OPTIONS"] = "halt_on_error=1:print_stacktrace=1"
    if options.long:
        values["ROOKERY_TEST_LIVES"] = "5000"
        values["ROOKERY_TEST_LONG"] = "1"
    os.environ.update(values)
    return dict(os.environ)


def run_suite(name, options, variables, building):
    if name == "lint":
        return native.lint(SOURCE)
    if name == "unit":
        # ThreadSanitizer does not survive the children of policy, under filters as they are.
        left_out = ("policy",) if options.sanitize == "thread" else ()
        return native.unit_tests(options.build, {**variables, "ASAN_OPTIONS": ASAN_OPTIONS_OF_UNITS}, left_out)
    if name == "conformance":
        return conformance_suite.conformance(SOURCE, variables)
    if name == "soak":
        return native.soak(SOURCE, 10 if options.long else 0.5, variables)
    if name == "arm64":
        return arm64.arm64(SOURCE)
    if name == "vm":
        return vm_suite.vm(SOURCE, options.build, options.long, variables)
    if name == "container":
        return container_suite.container(SOURCE, options.build, building, options.long, variables)
    if name == "fuzz":
        return native.fuzz(SOURCE, 60 if options.long else 4)
    if name == "legit":
        try:
            variables["ROOKERY_TEST_PYTHON"] = str(packages.interpreter(SOURCE / "container" / "requirements.txt"))
        except subprocess.CalledProcessError as error:
            return fail("the packages of tests/legit cannot be installed\n%s" % error.stdout[-4000:])
    jobs = 1 if name in ("abuse", "http", "api") or options.sanitize != "none" else 2
    return python_tests.run_directory(SOURCE / "tests" / name, variables, jobs)


def told(name, options, variables, building):
    start = time.monotonic()
    print("== " + name, flush=True)
    tally = run_suite(name, options, variables, building)
    for reason in tally.reasons:
        print("\n".join("    " + line for line in reason.splitlines()))
    print("== %s: %s (%.0f s)" % (name, tally, time.monotonic() - start), flush=True)
    return tally


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--build", type=lambda text: pathlib.Path(text).resolve(), required=True)
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--sanitize", choices=sorted(SLOWNESS), default="none")
    parser.add_argument("--only", action="append", choices=SUITES)
    options = parser.parse_args()
    chosen = options.only or (("unit",) if options.sanitize == "thread" else
                              ("unit", "integration", "conformance") if options.sanitize == "address" else
                              [name for name in SUITES if options.long or name not in LONG_SUITES])
    variables = variables_for(options)
    missing = environment.enter(SOURCE)
    total = skip("no response is compared with openapi.json: " + missing) if missing else Tally()
    # It takes minutes, so it is begun at once; the suite that needs it is the last but arm64.
    building = image_build.Beside(aside=len(chosen) > 1) if "container" in chosen else None
    try:
        for name in chosen:
            total += told(name, options, variables, building)
    finally:
        if building:
            building.stop()
    print(total)
    return 1 if total.failed or not total.passed else 0


if __name__ == "__main__":
    sys.exit(main())

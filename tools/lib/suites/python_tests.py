# SPDX-License-Identifier: Apache-2.0
"""Runs unittest modules, each in a process of its own, two at a time."""

import concurrent.futures
import json
import pathlib
import sys

from .tally import Tally, fail, run

ONE_MODULE = pathlib.Path(__file__).with_name("one_module.py")
MODULE_SECONDS = 1200


def run_module(directory, module, environment, seconds=MODULE_SECONDS):
    status, output = run([sys.executable, "-B", ONE_MODULE, directory, module], seconds, env=environment)
    head, _, last = output.rstrip().rpartition("\n")
    try:
        seen = json.loads(last)
    except ValueError:
        return module, fail("%s ended with %d\n%s" % (module, status, output[-4000:]))
    return module, Tally(seen["passed"], seen["failed"], seen["skipped"], seen["reasons"])


def run_directory(directory, environment, jobs):
    modules = sorted(path.stem for path in directory.glob("test_*.py"))
    if not modules:
        return fail("no tests in %s" % directory)
    total = Tally()
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        for module, tally in pool.map(lambda m: run_module(directory, m, environment), modules):
            print("  %-28s %s" % (module, tally), flush=True)
            total += tally
    return total

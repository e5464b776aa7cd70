# SPDX-License-Identifier: Apache-2.0
"""Runs every clause, prints one line for each and a summary."""

import importlib
import pkgutil
import queue
import threading
import time
import traceback

from . import clauses
from .registry import CLAUSES, Skip


def load():
    for module in pkgutil.iter_modules(clauses.__path__):
        importlib.import_module(clauses.__name__ + "." + module.name)
    return CLAUSES


def name(item):
    return (item.area + ": " + item.promise).lower()


def judge(item, sandbox):
    """(outcome, reason) where outcome is passed, failed or skipped."""
    try:
        item.judge(sandbox)
        return "passed", ""
    except Skip as skip:
        return "skipped", str(skip)
    except AssertionError as broken:
        return "failed", str(broken)
    except Exception as error:
        return "failed", "".join(traceback.format_exception(error, limit=-2, chain=False)).strip()


def run(sandbox, only="", without="", verbose=False):
    """Number of failed clauses. Slow ones share three threads of their own."""
    chosen = [c for c in load() if only.lower() in name(c) and not (without and without.lower() in name(c))]
    slow, results = queue.SimpleQueue(), queue.SimpleQueue()
    for item in chosen:
        if item.slow:
            slow.put(item)

    def drain():
        while True:
            try:
                item = slow.get_nowait()
            except queue.Empty:
                return
            results.put((item, *timed(item, sandbox)))

    threads = [threading.Thread(target=drain, daemon=True) for _ in range(3)]
    for thread in threads:
        thread.start()
    counts = {"passed": 0, "failed": 0, "skipped": 0}
    for item in chosen:
        if not item.slow:
            report(counts, item, *timed(item, sandbox), verbose)
    for _ in range(sum(c.slow for c in chosen)):
        report(counts, *results.get(), verbose)
    print("%(passed)d passed, %(failed)d failed, %(skipped)d skipped" % counts)
    return counts["failed"]


def timed(item, sandbox):
    start = time.monotonic()
    outcome, reason = judge(item, sandbox)
    return outcome, reason, time.monotonic() - start


def report(counts, item, outcome, reason, seconds, verbose):
    counts[outcome] += 1
    if outcome != "passed" or verbose:
        print("%-7s %s: %s (%.1f s)" % (outcome, item.area, item.promise, seconds))
        for line in reason.splitlines():
            print("        " + line)

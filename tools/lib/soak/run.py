# SPDX-License-Identifier: Apache-2.0
"""One soak: a server, the threads that work on it, and the verdict."""

import collections
import random
import threading
import time

from harness import Server

from . import leaks, lives, violence
from .report import Report

WORKERS = 4
SETTINGS = {"SANDBOX_RUNNER_MEMORY_MB": "256", "SANDBOX_WORKSPACE_MB": "64", "SANDBOX_WORKSPACE_INODES": "20000", "SANDBOX_RUNNER_PIDS": "64",
            "SANDBOX_RUNNER_CPU_SECONDS": "10", "SANDBOX_POOL_SIZE": str(leaks.POOL_SIZE), "SANDBOX_MAX_SESSIONS": "24", "SANDBOX_SESSION_GC_INTERVAL": "1",
            "SANDBOX_ZYGOTE_MAX_FORKS": "100", "LOG_LEVEL": "WARNING"}


def warm_up(server, seed):
    """So that what is made once and kept, such as threads and buffers, is there before the first count."""
    report = Report()
    workers = [threading.Thread(target=lives.work, args=(server.sandbox, report, seed + n)) for n in range(WORKERS)]
    for thread in workers:
        thread.start()
    report.over.wait(5)
    report.over.set()
    for thread in workers:
        thread.join()
    return report.violations


def soak(seconds, seed):
    """(violations, figures)"""
    server = Server(SETTINGS)
    try:
        server.wait_until_ready()
        report = Report()
        report.violations += warm_up(server, seed)
        before, memory_before = leaks.settled(server), leaks.memory(server)
        witness = violence.Witness(server)
        dice = random.Random(seed)
        jobs = [(lives.work, (server.sandbox, report, dice.random())) for _ in range(WORKERS)]
        jobs += [(violence.kill_at_random, (server, witness.namespace, report, dice.random())),
                 (violence.hostile_http, (server, report, dice.random())), (witness.watch, (report,))]
        threads = [threading.Thread(target=target, args=arguments) for target, arguments in jobs]
        start = time.monotonic()
        for thread in threads:
            thread.start()
        report.over.wait(seconds)
        report.over.set()
        for thread in threads:
            thread.join()
        took = time.monotonic() - start
        # A killed jail may cost a lease now and then; a server that refuses most of them serves nobody.
        if len(report.refused) > report.counts["lives"] / 10:
            reasons = collections.Counter(report.refused).most_common(3)
            report.violations.append("%d leases refused beside %d: %s" % (len(report.refused), report.counts["lives"], reasons))
        witness.session.delete()
        after, memory_after, grown = leaks.leaks(server, before, memory_before)
        violations = report.violations + grown
        known = server.identities()
        status = server.stop()
        if status != 0:
            violations.append("exit status %d" % status)
        violations += ["left behind: " + what for what in server.remains(known)]
        if violations:
            violations.append("the log's end:\n" + server.notable_log())
        waits = sorted(witness.waits) or [0]
        figures = {"seconds": "%.0f" % took, **report.counts, "witness calls": len(waits), "ms median": "%.1f" % (waits[len(waits) // 2] * 1e3),
                   "ms p99 of the witness": "%.1f" % (waits[int(len(waits) * 0.99)] * 1e3)}
        for name in before:
            figures["%s (%d before)" % (name, before[name])] = after[name]
        for role in memory_after:
            figures["kB of the %s (%d before)" % (role, memory_before[role])] = memory_after[role]
        return violations, figures
    finally:
        server.clean_up()

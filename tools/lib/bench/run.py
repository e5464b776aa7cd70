# SPDX-License-Identifier: Apache-2.0
"""Takes the samples, in turns where there are two backends, and prints and writes the figures."""

import json
import math

from .c_client import call_with_c_client
from .measures import MEASURES
from .memory import megabytes_a_session


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)]


def figures(values, unit):
    return {"unit": unit, "p50": percentile(values, 0.5), "p99": percentile(values, 0.99) if unit == "ms" else percentile(values, 0.01),
            "samples": len(values)}


def measure(kind, sandboxes):
    """One list of samples a backend; the rounds alternate between them."""
    runners = [kind(sandbox) for sandbox in sandboxes]
    samples = [[] for _ in runners]
    try:
        for runner in runners:
            runner.prepare()
            runner.sample()
        for _ in range(kind.rounds):
            for runner, values in zip(runners, samples):
                values.extend(runner.sample() for _ in range(kind.per_round))
    finally:
        for runner in runners:
            runner.finish()
            runner.connection.close()
    return samples


def show(name, rows):
    cells = ["%-26s" % name]
    for row in rows:
        cells.append("%10.3f %10.3f" % (row["p50"], row["p99"]))
    unit = rows[0]["unit"]
    if len(rows) == 2:
        better = rows[1]["p50"] / rows[0]["p50"] if unit in ("ms", "MB") else rows[0]["p50"] / rows[1]["p50"]
        cells.append("%8.2fx" % better)
    print("  ".join(cells), unit, flush=True)


def bench(sandboxes, pids, only, with_c_client):
    """{measure: [figures a backend]}. The ratio printed is how much better the first backend is than the second."""
    print("%-26s  %s" % ("", "  ".join("%21s" % ("%s:%d p50/p99" % (s.host, s.port)) for s in sandboxes)))
    results = {}
    for kind in MEASURES:
        if only and not any(part in kind.name for part in only):
            continue
        try:
            rows = [figures(values, kind.unit) for values in measure(kind, sandboxes)]
        except (RuntimeError, OSError) as broken:
            print("%-26s  not measured: %s" % (kind.name, str(broken).strip().splitlines()[-1][:160]))
            continue
        results[kind.name] = rows
        show(kind.name, rows)
    if with_c_client and (not only or "C client" in only):
        results["call, C client"] = rows = [figures(call_with_c_client(sandbox), "ms") for sandbox in sandboxes]
        show("call, C client", rows)
    if pids and (not only or "memory" in only):
        values = [megabytes_a_session(sandbox, pid) for sandbox, pid in zip(sandboxes, pids)]
        results["memory a session"] = rows = [figures([value], "MB") for value in values]
        show("memory a session (PSS)", rows)
    return results


def write(path, sandboxes, results):
    with open(path, "w") as file:
        json.dump({"backends": ["http://%s:%d" % (s.host, s.port) for s in sandboxes], "results": results}, file, indent=2)
        file.write("\n")

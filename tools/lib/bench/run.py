# SPDX-License-Identifier: Apache-2.0
"""Takes the samples, in turns where there are two backends, and prints and writes the figures."""

import json
import math

from . import c_client
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


def title(sandboxes, floors):
    cells = ["%-26s" % ""] + ["%21s" % ("%s:%d p50/p99" % (s.host, s.port)) for s in sandboxes]
    if len(sandboxes) == 2:
        cells.append("%9s" % "better")
    if floors:
        cells.append("%10s %8s" % ("floor", "of floor"))
    print("  ".join(cells))


def better(row, other):
    """How many times better the first is."""
    return other["p50"] / row["p50"] if row["unit"] in ("ms", "MB") else row["p50"] / other["p50"]


def show(name, rows, floor=None):
    cells = ["%-26s" % name] + ["%10.3f %10.3f" % (row["p50"], row["p99"]) for row in rows]
    if len(rows) == 2:
        cells.append("%8.2fx" % better(*rows))
    if floor:
        cells.append("%10.3f %7.2fx" % (floor["p50"], better(floor, rows[0])))
    print("  ".join(cells), rows[0]["unit"], flush=True)


def bench(sandboxes, pids, only, with_c_client, floors):
    """({measure: [figures a backend]}, {measure: figures of its floor}). The ratio printed is how much better the first backend is than
    the second, and "of floor" how much better its floor is. `floors` is what floors.started() gives, or {}."""
    title(sandboxes, floors)
    results, lowest = {}, {}

    def floor_of(name):
        return [floors[name]] if name in floors else []

    def add(name, unit, samples):
        rows = [figures(values, unit) for values in samples]
        results[name] = rows[:len(sandboxes)]
        if len(rows) > len(sandboxes):
            lowest[name] = rows[-1]
        show(name, results[name], lowest.get(name))

    for kind in MEASURES:
        if only and not any(part in kind.name for part in only):
            continue
        try:
            samples = measure(kind, sandboxes + floor_of(kind.floor))
        except (RuntimeError, OSError) as broken:
            print("%-26s  not measured: %s" % (kind.name, str(broken).strip().splitlines()[-1][:160]))
            continue
        add(kind.name, kind.unit, samples)
    for name, unit, floor, samples in c_client.MEASURES if with_c_client else ():
        if not only or any(part in name for part in only):
            add(name, unit, samples(sandboxes + floor_of(floor)))
    if pids and (not only or "memory" in only):
        add("memory a session (PSS)", "MB", [[megabytes_a_session(sandbox, pid)] for sandbox, pid in zip(sandboxes, pids)])
    return results, lowest


def write(path, sandboxes, results, lowest):
    with open(path, "w") as file:
        json.dump({"backends": ["http://%s:%d" % (s.host, s.port) for s in sandboxes], "results": results, "floors": lowest}, file, indent=2)
        file.write("\n")

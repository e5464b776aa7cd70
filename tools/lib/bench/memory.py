# SPDX-License-Identifier: Apache-2.0
"""Memory a session costs: the growth of the process tree's PSS when sessions use pandas and save a figure."""

import pathlib
import time

USE = ("import pandas as pd, matplotlib.pyplot as plt\npd.DataFrame({'a': range(100)}).describe()\n"
       "plt.plot([1, 2, 3]); plt.savefig('p.png'); plt.close()")


def tree(root):
    children = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text(errors="replace").rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
        except (OSError, IndexError):
            continue
    found, queue = [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue.extend(children.get(pid, ()))
    return found


def pss_kb(root):
    total = 0
    for pid in tree(root):
        try:
            for line in pathlib.Path("/proc/%d/smaps_rollup" % pid).read_text().splitlines():
                if line.startswith("Pss:"):
                    total += int(line.split()[1])
        except OSError:
            continue
    return total


def megabytes_a_session(sandbox, root, count=20):
    """MB (10^6 bytes) of PSS a live session adds, over `count` of them."""
    with sandbox.create() as warm:
        warm.code(USE, 60)
        time.sleep(1)
        before = pss_kb(root)
        sessions = [sandbox.create() for _ in range(count)]
        for session in sessions:
            result = session.code(USE, 60)
            if result.return_code:
                raise RuntimeError(result)
        time.sleep(1)
        after = pss_kb(root)
        for session in sessions:
            session.delete()
    return (after - before) * 1.024 / count / 1000

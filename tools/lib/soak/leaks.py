# SPDX-License-Identifier: Apache-2.0
"""What a server holds while it has no sessions, before and after."""

import time

import process_tree
from harness import SLOWNESS, wait_for

POOL_SIZE = 4  # a burst keeps more for ten seconds
MEMORY_KB = {"server": 48 * 1024, "warden": 16 * 1024}  # how much they may grow


def counts(server):
    tree = server.tree()
    own = [pid for pid in tree if process_tree.title(pid).startswith("rookery")]
    return {
        "processes": len(tree),
        "descriptors": sum(process_tree.descriptors(pid) for pid in own),
        "threads": sum(process_tree.threads(pid) for pid in own),
        "mounts": len(process_tree.mounts(server.role("warden"))),
        "cgroups": process_tree.count_directories(server.cgroups),
        "directories": process_tree.count_directories([server.root]),
    }


def settled(server):
    """The counts once they stand still: no session, the pool at its size again, idle connections and threads gone."""
    seen = []

    def still():
        time.sleep(0.5)
        seen.append(counts(server))
        health = server.sandbox.health()
        return health["session_count"] == 0 and health["ready_sessions"] == POOL_SIZE and len(seen) > 3 and seen[-1] == seen[-2] == seen[-3]

    wait_for(still, 60, "counts that stand still")
    return seen[-1]


def memory(server):
    return {role: process_tree.resident_kb(server.role(role)) for role in MEMORY_KB}


def leaks(server, before, memory_before):
    """The last figures and what grew: texts."""
    deadline = time.monotonic() + 90 * SLOWNESS
    while True:  # a zygote that was killed comes back after a while
        after = settled(server)
        grown = ["%s: %d before, %d after: not built again" % (name, before[name], after[name]) for name in ("processes", "cgroups") if after[name] < before[name]]
        grown += ["%s: %d before, %d after" % (name, before[name], count) for name, count in after.items() if count > before[name]]
        if not grown or time.monotonic() > deadline:
            break
    now = memory(server)
    grown += ["memory of the %s: %d kB before, %d kB after" % (role, memory_before[role], size)
              for role, size in now.items() if size - memory_before[role] > MEMORY_KB[role]]
    return after, now, grown

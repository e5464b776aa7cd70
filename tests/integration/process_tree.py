# SPDX-License-Identifier: Apache-2.0
"""What the host sees of a running server: its processes, descriptors, mounts and cgroups, read from /proc."""

import contextlib
import os
import pathlib
import re

PROC = pathlib.Path("/proc")


def read(path):
    """The file's text, or "" when the process went away meanwhile."""
    try:
        return pathlib.Path(path).read_text(errors="replace")
    except OSError:
        return ""


def stat_fields(pid):
    """The fields of /proc/PID/stat behind the command name: state first, parent second, start time 20th."""
    return read(PROC / str(pid) / "stat").rpartition(")")[2].split()


def start_time(pid):
    fields = stat_fields(pid)
    return fields[19] if len(fields) > 19 else None


def is_alive(pid, started=None):
    fields = stat_fields(pid)
    if len(fields) < 20 or fields[0] in "ZX":
        return False
    return started is None or fields[19] == started


def children_table():
    table = {}
    for entry in PROC.iterdir():
        if entry.name.isdigit():
            fields = stat_fields(entry.name)
            if len(fields) > 19 and fields[0] not in "ZX":
                table.setdefault(int(fields[1]), []).append(int(entry.name))
    return table


def tree(root):
    """Pids of `root` and everything below it, in no particular order."""
    table, found, queue = children_table(), [], [root]
    while queue:
        pid = queue.pop()
        found.append(pid)
        queue.extend(table.get(pid, ()))
    return [pid for pid in found if is_alive(pid)]


def title(pid):
    """The command line as ps shows it, else the name of the process."""
    line = read(PROC / str(pid) / "cmdline").replace("\0", " ").strip()
    return line or read(PROC / str(pid) / "comm").strip()


def status(pid):
    return dict(line.split(":\t", 1) for line in read(PROC / str(pid) / "status").splitlines() if ":\t" in line)


def uid_map(pid):
    return [tuple(map(int, line.split())) for line in read(PROC / str(pid) / "uid_map").splitlines()]


def in_host_user_namespace(pid):
    return namespace(pid, "user") == namespace("self", "user")


def namespace(pid, kind):
    try:
        return os.readlink(PROC / str(pid) / "ns" / kind)
    except OSError:
        return None


def descriptors(pid):
    try:
        return len(os.listdir(PROC / str(pid) / "fd"))
    except OSError:
        return 0


def threads(pid):
    try:
        return len(os.listdir(PROC / str(pid) / "task"))
    except OSError:
        return 0


def mounts(pid):
    return read(PROC / str(pid) / "mountinfo").splitlines()


def resident_kb(pid):
    return int(status(pid).get("VmRSS", "0 kB").split()[0])


def pss_kb(pids):
    """Their memory, what several share divided by how many do (proc_pid_smaps(5))."""
    total = 0
    for pid in pids:
        for line in read(PROC / str(pid) / "smaps_rollup").splitlines():
            total += int(line.split()[1]) if line.startswith("Pss:") else 0
    return total


def private_memory(pid):
    """What stands in the writable private mappings of a process: its heap, stacks and variables."""
    found = b""
    for line in read(PROC / str(pid) / "maps").splitlines():
        place, rights = line.split()[:2]
        if rights.startswith("rw") and rights.endswith("p"):
            start, end = (int(part, 16) for part in place.split("-"))
            with contextlib.suppress(OSError), open(PROC / str(pid) / "mem", "rb") as memory:
                memory.seek(start)
                found += memory.read(end - start)
    return found


def cgroup_mounts():
    """(hierarchy's controllers, mount point) of every mounted cgroup file system, as /proc/self/cgroup names them."""
    found = {}
    for line in mounts("self"):
        left, _, right = line.partition(" - ")
        kind, _, options = right.split()[:3]
        if kind == "cgroup2":
            found[""] = left.split()[4]
        elif kind == "cgroup":
            for option in options.split(","):
                found[option] = left.split()[4]
    return found


def cgroup_directories(pid):
    """The directories on the host of every cgroup that `pid` is in."""
    points, found = cgroup_mounts(), []
    for line in read(PROC / str(pid) / "cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        point = points.get(controllers.split(",")[0].removeprefix("name=")) or points.get(controllers)
        if point:
            found.append(pathlib.Path(point + path))
    return found


def rookery_cgroups(pid):
    """The directories that a server made below its caller's cgroup, one a hierarchy, given any process of it."""
    found = set()
    for directory in cgroup_directories(pid):
        match = re.match(r"(.*/rookery-[^/]+)", str(directory))
        if match:
            found.add(pathlib.Path(match[1]))
    return found


def count_directories(roots):
    return sum(len(dirs) for root in roots for _, dirs, _ in os.walk(root))

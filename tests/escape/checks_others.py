# SPDX-License-Identifier: Apache-2.0
"""Other sessions, the server and the host's processes: not seen, not reached, not remembered. Parameters come as PARAMETERS."""

import ctypes
import errno
import os
import re
import signal
import time

from inside import *


@check("no process of the host, the server or another session is seen")
def processes_seen():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with open("/proc/%s/cmdline" % pid, errors="replace") as file:
            title = file.read().replace("\0", " ")
        if PARAMETERS["mark"] in title or re.search("rookery: (warden|server|zygote)|rookery serve", title) or status_of(pid)["Name"] in ("warden", "server", "rookery"):
            found.append("%s %s" % (pid, title))
    return found


@check("no signal reaches a process of the host or another session, whatever its number")
def signals_beyond():
    found = []
    for pid in PARAMETERS["host_pids"]:
        if not os.path.exists("/proc/%d" % pid):
            found += open_doors([("kill %d" % pid, lambda pid=pid: os.kill(pid, 0)), ("pidfd_open %d" % pid, lambda pid=pid: os.pidfd_open(pid)),
                                 ("group %d" % pid, lambda pid=pid: os.killpg(pid, 0))], (errno.ESRCH,))
    # Everything that this child may signal; the test looks afterwards whether the others still live.
    in_child(lambda: os.setsid() and [os.kill(-pid, signal.SIGKILL) for pid in (2, 3, 99999)])
    return found


@check("no secret of the server is in this process's memory or that of its relatives")
def memory():
    pattern, found = re.compile(PARAMETERS["secret_pattern"].encode()), []
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps.read().splitlines():
            place = line.split()
            start, end = (int(part, 16) for part in place[0].split("-"))
            if place[1][0] != "r" or place[-1] in ("[vvar]", "[vsyscall]", "[vvar_vclock]"):
                continue
            try:
                memory.seek(start)
                while start < end:
                    data = memory.read(min(end - start, 1 << 24))
                    if not data:
                        break
                    start += len(data)
                    if pattern.search(data):
                        found.append(line)
            except OSError:
                continue
    return found


@check("System V objects of the host and of other sessions are invisible")
def system_v():
    found = [kind for kind in ("shm", "msg", "sem") if len(open("/proc/sysvipc/" + kind).readlines()) > 1]
    for key in PARAMETERS["ipc_keys"]:
        found += open_doors([("shm", lambda: call("shmget", key, 0, 0)), ("msg", lambda: call("msgget", key, 0)), ("sem", lambda: call("semget", key, 0, 0))], (errno.ENOENT,))
    for number in range(64):  # by number instead of key
        found += open_doors([("shmat %d" % number, lambda: call("shmat", number, 0, 0o10000))], (errno.EINVAL, errno.EIDRM))
    return found


@check("POSIX queues, semaphores and shared memory of the host and of other sessions are invisible")
def posix():
    found = [name for name in listed("/dev/shm") + listed("/dev/mqueue") if name in PARAMETERS["hidden_names"]]
    return found + open_doors([("mq_open " + name, lambda name=name: call("mq_open", name.encode(), 0, 0, None)) for name in PARAMETERS["queues"]], (errno.ENOENT,))

# SPDX-License-Identifier: Apache-2.0
"""Finishes the guest's set-up, runs the modules that job.json names, writes their tallies, switches off.

Pid 1, and rookery is started as an ordinary process in the root of a cgroup v2 hierarchy, or where a test puts it; or a service of systemd,
where the job wants that."""

import ctypes
import json
import os
import pathlib
import subprocess
import sys
import time
import traceback

RESULTS = pathlib.Path("/mnt/results")
SOURCE = pathlib.Path(__file__).resolve().parents[2]
POWER_OFF = 0x4321FEDC  # LINUX_REBOOT_CMD_POWER_OFF, reboot(2)


def mount(*arguments):
    subprocess.run(["mount", *arguments], check=True)


def mount_all():
    mount("-t", "cgroup2", "cgroup", "/sys/fs/cgroup")
    for place, kind in (("/dev/shm", "tmpfs"), ("/dev/pts", "devpts"), ("/run", "tmpfs")):
        os.makedirs(place, exist_ok=True)
        mount("-t", kind, kind, place)
    for name, target in (("fd", "/proc/self/fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        if not os.path.lexists("/dev/" + name):
            os.symlink(target, "/dev/" + name)


def set_up(job):
    os.environ["PATH"] = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    if not job["systemd"]:
        mount_all()
    subprocess.run(["mount", "-t", "securityfs", "securityfs", "/sys/kernel/security"], check=False)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    # As on a machine with more memory than the guest has.
    for name, value in {"vm/overcommit_memory": "1", **job["sysctl"]}.items():
        pathlib.Path("/proc/sys", name).write_text(value)


def facts():
    """What the host's side checks that it got: tests on the wrong kernel prove nothing."""
    return {
        "kernel": os.uname().release,
        "cgroup": pathlib.Path("/proc/self/cgroup").read_text(),
        "controllers": pathlib.Path("/sys/fs/cgroup/cgroup.controllers").read_text().split(),
        "lsm": pathlib.Path("/sys/kernel/security/lsm").read_text() if os.path.exists("/sys/kernel/security/lsm") else "",
    }


def run_job():
    job = json.loads((RESULTS / "job.json").read_text())
    set_up(job)
    os.environ.update(job["environment"])
    sys.path.insert(0, str(SOURCE / "tools" / "lib"))
    from suites import python_tests

    (RESULTS / "facts.json").write_text(json.dumps(facts()))
    for suite, module in job["modules"]:
        start = time.monotonic()
        name, tally = python_tests.run_module(SOURCE / "tests" / suite, module, dict(os.environ), job["module_seconds"])
        line = {"name": suite + "/" + name, "passed": tally.passed, "failed": tally.failed, "skipped": tally.skipped,
                "reasons": tally.reasons, "seconds": time.monotonic() - start}
        with open(RESULTS / "tallies", "a") as tallies:
            tallies.write(json.dumps(line) + "\n")


def main():
    child = os.fork()
    if child == 0:
        try:
            run_job()
        except BaseException:
            (RESULTS / "broken").write_text(traceback.format_exc())
        os._exit(0)
    while os.wait()[0] != child:  # orphans of the tests come here
        pass
    os.sync()
    ctypes.CDLL(None).reboot(POWER_OFF)


main()

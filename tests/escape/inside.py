# SPDX-License-Identifier: Apache-2.0
"""Runs inside a session, before the checks: what they are made of. A check returns what was open to it, or nothing."""

import ctypes
import errno
import json
import os
import signal
import struct
import time

libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
CHECKS = []
# What a refusal looks like: anything else means that the kernel went on to look at the arguments.
REFUSED = {errno.EPERM, errno.EACCES, errno.ENOSYS}


def check(promise):
    def register(function):
        CHECKS.append((promise, function))
        return function

    return register


def argument(value):
    if value is None:
        return ctypes.c_void_p(0)
    if isinstance(value, int):
        return ctypes.c_ulong(value & (2**64 - 1))
    return ctypes.c_char_p(value) if isinstance(value, bytes) else value


def call(name, *arguments):
    """The result of a raw system call, by its name, or by its number where it is the same on all machines; throws OSError."""
    number = name if isinstance(name, int) else PARAMETERS["calls"][name]
    if number < 0:
        raise OSError(errno.ENOSYS, "%s: this machine has no such system call" % name)
    ctypes.set_errno(0)
    result = libc.syscall(ctypes.c_long(number), *map(argument, arguments))
    if result == -1:
        raise OSError(ctypes.get_errno(), "system call %s" % name)
    return result


def in_child(function, seconds=5):
    """("value", v), ("errno", n), ("signal", n), ("hangs", 0) or ("error", text) of `function` in a forked child."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            signal.alarm(seconds)
            try:
                answer = ["value", function()]
            except OSError as error:
                answer = ["errno", error.errno]
            except BaseException as error:
                answer = ["error", "%s: %s" % (type(error).__name__, error)]
            os.write(write, json.dumps(answer, default=str).encode())
        finally:
            os._exit(0)
    os.close(write)
    data = b""
    while part := os.read(read, 65536):
        data += part
    os.close(read)
    _, status = os.waitpid(pid, 0)
    if data:
        return tuple(json.loads(data))
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return ("hangs", 0) if number == signal.SIGALRM else ("signal", number)


def open_doors(attempts, also_refused=()):
    """The attempts (name, function) that were not refused, each tried in a child."""
    found = []
    for name, function in attempts:
        kind, value = in_child(function)
        refused = kind == "errno" and (value in REFUSED or value in also_refused) or kind == "signal" and value in (signal.SIGSYS, signal.SIGKILL)
        if not refused:
            found.append("%s: %s %s" % (name, kind, errno.errorcode.get(value, value) if kind == "errno" else value))
    return found


def can_open(path, flags):
    try:
        os.close(os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY))
        return True
    except OSError:
        return False


def listed(path):
    try:
        return os.listdir(path)
    except OSError:
        return []


def status_of(pid):
    with open("/proc/%s/status" % pid) as file:
        return dict(line.split(":\t", 1) for line in file.read().splitlines() if ":\t" in line)


def sleeper():
    """A harmless child of our own, to aim at."""
    pid = os.fork()
    if pid == 0:
        time.sleep(20)
        os._exit(0)
    return pid


def run_checks():
    for promise, function in CHECKS:
        try:
            found = function()
            verdict = {"promise": promise, "open": [str(item)[:200] for item in found or []][:20]}
        except Exception as error:
            verdict = {"promise": promise, "error": "%s: %s" % (type(error).__name__, error)}
        print(json.dumps(verdict), flush=True)

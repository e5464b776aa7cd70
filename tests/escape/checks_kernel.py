# SPDX-License-Identifier: Apache-2.0
"""Doors of the kernel that must be shut: namespaces, mounts, keys, modules, clocks and the like (x86-64 numbers)."""

import ctypes
import errno
import mmap
import os
import signal
import struct

from inside import *

NEW = {"NEWTIME": 0x80, "NEWNS": 0x20000, "NEWCGROUP": 0x2000000, "NEWUTS": 0x4000000, "NEWIPC": 0x8000000, "NEWUSER": 0x10000000,
       "NEWPID": 0x20000000, "NEWNET": 0x40000000}


def raw_clone(flags):
    pid = call(56, flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made"


def clone3(flags):
    pid = call(435, ctypes.create_string_buffer(struct.pack("11Q", flags, 0, 0, 0, signal.SIGCHLD, *[0] * 6)), 88)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made"


@check("no namespace can be made")
def make_namespaces():
    attempts = [("unshare " + name, lambda flag=flag: call(272, flag)) for name, flag in NEW.items()]
    attempts += [("clone " + name, lambda flag=flag: raw_clone(flag)) for name, flag in NEW.items() if name != "NEWTIME"]
    attempts += [("clone3 " + name, lambda flag=flag: clone3(flag)) for name, flag in NEW.items()]
    attempts += [("unshare NEWUSER|%s" % name, lambda flag=flag: call(272, flag | 0x10000000)) for name, flag in NEW.items()]
    attempts += [("unshare with high bits", lambda: call(272, 1 << 40 | 0x10000000))]
    return open_doors(attempts, (errno.ENOSPC, errno.EUSERS))


@check("no namespace can be joined")
def join_namespaces():
    def by_file(kind):
        return call(308, os.open("/proc/self/ns/" + kind, os.O_RDONLY), 0)

    attempts = [("setns " + kind, lambda kind=kind: by_file(kind)) for kind in sorted(os.listdir("/proc/self/ns"))]
    attempts += [("setns any kind " + kind, lambda kind=kind: call(308, os.open("/proc/self/ns/" + kind, os.O_RDONLY), NEW["NEW" + kind.upper().replace("MNT", "NS")]))
                 for kind in ("mnt", "net", "pid", "user", "uts", "ipc", "cgroup")]
    attempts += [("setns by pidfd", lambda: call(308, call(434, os.getpid(), 0), 0x7C020000))]
    return open_doors(attempts)


@check("nothing can be mounted, unmounted or moved, by the old calls or the new")
def mounts():
    return open_doors([
        ("mount", lambda: call(165, b"none", b"/tmp", b"tmpfs", 0, None)), ("bind", lambda: call(165, b"/tmp", b"/workspace", None, 0x1000, None)),
        ("remount", lambda: call(165, None, b"/", None, 0x20, None)), ("move", lambda: call(165, b"/tmp", b"/dev/shm", None, 0x2000, None)),
        ("umount", lambda: call(166, b"/proc", 2)), ("pivot_root", lambda: call(155, b".", b".")), ("chroot", lambda: call(161, b"/tmp")),
        ("fsopen", lambda: call(430, b"tmpfs", 0)), ("fsconfig", lambda: call(431, -1, 6, 0, 0, 0)), ("fsmount", lambda: call(432, -1, 0, 0)),
        ("fspick", lambda: call(433, -100, b"/", 0)), ("open_tree", lambda: call(428, -100, b"/tmp", 1)),
        ("move_mount", lambda: call(429, -100, b"/tmp", -100, b"/dev/shm", 0)), ("mount_setattr", lambda: call(442, -100, b"/", 0, None, 0)),
        ("statmount", lambda: call(457, None, None, 0, 0)), ("listmount", lambda: call(458, None, None, 0, 0)),
        ("swapon", lambda: call(167, b"/workspace/x", 0)), ("swapoff", lambda: call(168, b"/workspace/x")),
        ("quotactl", lambda: call(179, 0x800007, b"/dev/x", 0, None)), ("quotactl_fd", lambda: call(443, -1, 0, 0, None)),
        ("acct", lambda: call(163, b"/workspace/x"))])


@check("keyrings cannot be used")
def keys():
    return open_doors([("add_key", lambda: call(248, b"user", b"k", b"v", 1, -3)), ("request_key", lambda: call(249, b"user", b"k", None, 0)),
                       ("keyctl", lambda: call(250, 0, -3, 0))])


@check("attack surface that no program needs is filtered")
def surface():
    return open_doors([
        ("bpf", lambda: call(321, 0, None, 0)), ("perf_event_open", lambda: call(298, None, 0, -1, -1, 0)), ("userfaultfd", lambda: call(323, 1)),
        ("io_uring_setup", lambda: call(425, 1, None)), ("io_uring_enter", lambda: call(426, -1, 0, 0, 0, None, 0)), ("io_uring_register", lambda: call(427, -1, 0, None, 0)),
        ("fanotify_init", lambda: call(300, 0, 0)), ("lookup_dcookie", lambda: call(212, 0, None, 0)), ("vhangup", lambda: call(153)),
        ("nfsservctl", lambda: call(180)), ("kcmp", lambda: call(312, os.getpid(), os.getpid(), 1, 0, 0)), ("vmsplice of a NULL", lambda: call(278, -1, None, 0, 0) and 0),
        ("iopl", lambda: call(172, 3)), ("ioperm", lambda: call(173, 0, 1, 1)), ("modify_ldt", lambda: call(154, 1, None, 16)),
        ("memfd_secret", lambda: call(447, 0)), ("pidfd_getfd", lambda: call(438, -1, 0, 0)), ("process_madvise", lambda: call(440, -1, None, 0, 0, 0)),
        ("migrate_pages", lambda: call(256, 0, 0, None, None)), ("move_pages", lambda: call(279, os.getppid(), 0, None, None, None, 0)),
        ("syslog", lambda: call(103, 3, None, 0)), ("uselib", lambda: call(134, b"x")), ("_sysctl", lambda: call(156, None))],
        (errno.EBADF,))


@check("the machine cannot be changed: modules, kernel, clocks, names, power")
def machine():
    timex = ctypes.create_string_buffer(struct.pack("I", 0x4000) + bytes(256))
    return open_doors([
        ("init_module", lambda: call(175, None, 0, b"")), ("finit_module", lambda: call(313, -1, b"", 0)), ("delete_module", lambda: call(176, b"none", 0)),
        ("kexec_load", lambda: call(246, 0, 0, None, 0)), ("kexec_file_load", lambda: call(320, -1, -1, 0, None, 0)), ("reboot", lambda: call(169, 0, 0, 0, None)),
        ("settimeofday", lambda: call(164, None, None)), ("clock_settime", lambda: call(227, 0, None)), ("adjtimex", lambda: call(159, timex)),
        ("clock_adjtime", lambda: call(305, 0, timex)), ("sethostname", lambda: call(170, b"x", 1)), ("setdomainname", lambda: call(171, b"x", 1))])


@check("nothing can be traced or read from another process, not even an own child")
def tracing():
    child = sleeper()
    local = ctypes.create_string_buffer(8)
    vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(local), 8))
    try:
        found = []
        for pid, who in ((child, "own child"), (1, "init")):
            found += open_doors([
                ("PTRACE_ATTACH " + who, lambda pid=pid: call(101, 16, pid, 0, 0)), ("PTRACE_SEIZE " + who, lambda pid=pid: call(101, 0x4206, pid, 0, 0)),
                ("process_vm_readv " + who, lambda pid=pid: call(310, pid, vector, 1, vector, 1, 0)),
                ("process_vm_writev " + who, lambda pid=pid: call(311, pid, vector, 1, vector, 1, 0))], (errno.ESRCH,))
        return found + open_doors([("PTRACE_TRACEME", lambda: call(101, 0, 0, 0, 0))])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@check("file handles and personality are refused")
def handles():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 8, 1) + bytes(8))
    named = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    return open_doors([("open_by_handle_at", lambda: call(304, -100, handle, 0)),
                       ("name_to_handle_at", lambda: call(303, -100, b"/workspace", named, ctypes.byref(ctypes.c_int()), 0))] +
                      [("personality %x" % value, lambda value=value: call(135, value)) for value in (0x40000, 0x400000, 0x100000, 1 << 32 | 0x40000)])


def machine_code(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


@check("system calls of another ABI end the program")
def foreign_abi():
    found = []
    for name, code in (("int 0x80", b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3"), ("x32", b"\xb8\x27\x00\x00\x40\x0f\x05\xc3")):
        kind, value = in_child(lambda code=code: machine_code(code))
        if kind != "signal" and not (kind == "value" and value < 0):
            found.append("%s: %s %s" % (name, kind, value))
    return found


@check("instructions that talk to hardware end the program")
def port_input():
    # in al, dx from the CMOS index port; rdmsr; hlt
    found = []
    for name, code in (("in", b"\x66\xba\x70\x00\xec\xc3"), ("rdmsr", b"\x31\xc9\x0f\x32\xc3"), ("hlt", b"\xf4\xc3")):
        kind, value = in_child(lambda code=code: machine_code(code))
        if kind != "signal":
            found.append("%s: %s %s" % (name, kind, value))
    return found


@check("system calls that are newer than the policy do not exist")
def newer_calls():
    known = {452}  # fchmodat2
    return open_doors([("call %d" % number, lambda number=number: call(number, -1, -1, -1, -1, -1, -1)) for number in range(451, 600) if number not in known])


@check("input cannot be pushed into a terminal, whatever the high bits of the request")
def terminals():
    import fcntl

    def push(request):
        os.setsid()
        master, slave = os.openpty()
        fcntl.ioctl(slave, 0x540E, 0)
        return call(16, slave, request, ctypes.byref(ctypes.c_char(b"x")))

    return open_doors([("TIOCSTI", lambda: push(0x5412)), ("TIOCSTI with high bits", lambda: push(1 << 32 | 0x5412)),
                       ("TIOCLINUX", lambda: push(0x541C)), ("TIOCCONS", lambda: push(0x541D)), ("TIOCSETD", lambda: push(0x5423))], (errno.EIO, errno.ENOTTY))


@check("ids, limits and priorities cannot be raised")
def raise_rights():
    import resource

    def limit(kind):
        soft, hard = resource.getrlimit(kind)
        if hard == resource.RLIM_INFINITY:
            raise OSError(errno.EPERM, "unlimited")
        try:
            resource.setrlimit(kind, (soft, hard + 1))
        except ValueError:
            raise OSError(errno.EPERM, "refused")
        return "raised"

    attempts = [("setresuid %d" % n, lambda n=n: os.setresuid(n, n, n)) for n in (0, 1, os.getuid() + 1, 65534)]
    attempts += [("setresgid %d" % n, lambda n=n: os.setresgid(n, n, n)) for n in (0, 1, os.getgid() + 1)]
    attempts += [("setgroups", lambda: os.setgroups([0])), ("nice", lambda: os.setpriority(os.PRIO_PROCESS, 0, -1)),
                 ("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))), ("ioprio", lambda: call(251, 1, 0, 1 << 13 | 4)),
                 ("capset", lambda: call(126, ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0)), ctypes.create_string_buffer(struct.pack("6I", 1 << 21, 1 << 21, 0, 0, 0, 0)))),
                 ("ambient", lambda: call(157, 47, 2, 21, 0, 0) if call(157, 47, 2, 21, 0, 0) == 0 else None)]
    attempts += [("RLIMIT_" + n, lambda n=n: limit(getattr(resource, "RLIMIT_" + n))) for n in ("NOFILE", "NPROC", "CORE", "FSIZE", "MEMLOCK", "RTPRIO", "NICE")]
    return open_doors(attempts, (errno.EINVAL,))

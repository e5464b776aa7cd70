# SPDX-License-Identifier: Apache-2.0
"""Doors of the kernel that must be shut: namespaces, mounts, keys, modules, clocks and the like."""

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
    pid = call("clone", flags | signal.SIGCHLD, 0, 0, 0, 0)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made"


def clone3(flags):
    pid = call("clone3", ctypes.create_string_buffer(struct.pack("11Q", flags, 0, 0, 0, signal.SIGCHLD, *[0] * 6)), 88)
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    return "made"


@check("no namespace can be made")
def make_namespaces():
    attempts = [("unshare " + name, lambda flag=flag: call("unshare", flag)) for name, flag in NEW.items()]
    attempts += [("clone " + name, lambda flag=flag: raw_clone(flag)) for name, flag in NEW.items() if name != "NEWTIME"]
    attempts += [("clone3 " + name, lambda flag=flag: clone3(flag)) for name, flag in NEW.items()]
    attempts += [("unshare NEWUSER|%s" % name, lambda flag=flag: call("unshare", flag | 0x10000000)) for name, flag in NEW.items()]
    attempts += [("unshare with high bits", lambda: call("unshare", 1 << 40 | 0x10000000))]
    return open_doors(attempts, (errno.ENOSPC, errno.EUSERS))


@check("no namespace can be joined")
def join_namespaces():
    def by_file(kind):
        return call("setns", os.open("/proc/self/ns/" + kind, os.O_RDONLY), 0)

    attempts = [("setns " + kind, lambda kind=kind: by_file(kind)) for kind in sorted(os.listdir("/proc/self/ns"))]
    attempts += [("setns any kind " + kind, lambda kind=kind: call("setns", os.open("/proc/self/ns/" + kind, os.O_RDONLY), NEW["NEW" + kind.upper().replace("MNT", "NS")]))
                 for kind in ("mnt", "net", "pid", "user", "uts", "ipc", "cgroup")]
    attempts += [("setns by pidfd", lambda: call("setns", call("pidfd_open", os.getpid(), 0), 0x7C020000))]
    return open_doors(attempts)


@check("nothing can be mounted, unmounted or moved, by the old calls or the new")
def mounts():
    return open_doors([
        ("mount", lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None)), ("bind", lambda: call("mount", b"/tmp", b"/workspace", None, 0x1000, None)),
        ("remount", lambda: call("mount", None, b"/", None, 0x20, None)), ("move", lambda: call("mount", b"/tmp", b"/dev/shm", None, 0x2000, None)),
        ("umount", lambda: call("umount2", b"/proc", 2)), ("pivot_root", lambda: call("pivot_root", b".", b".")), ("chroot", lambda: call("chroot", b"/tmp")),
        ("fsopen", lambda: call("fsopen", b"tmpfs", 0)), ("fsconfig", lambda: call("fsconfig", -1, 6, 0, 0, 0)), ("fsmount", lambda: call("fsmount", -1, 0, 0)),
        ("fspick", lambda: call("fspick", -100, b"/", 0)), ("open_tree", lambda: call("open_tree", -100, b"/tmp", 1)),
        ("move_mount", lambda: call("move_mount", -100, b"/tmp", -100, b"/dev/shm", 0)), ("mount_setattr", lambda: call("mount_setattr", -100, b"/", 0, None, 0)),
        ("statmount", lambda: call(457, None, None, 0, 0)), ("listmount", lambda: call(458, None, None, 0, 0)),
        ("swapon", lambda: call("swapon", b"/workspace/x", 0)), ("swapoff", lambda: call("swapoff", b"/workspace/x")),
        ("quotactl", lambda: call("quotactl", 0x800007, b"/dev/x", 0, None)), ("quotactl_fd", lambda: call("quotactl_fd", -1, 0, 0, None)),
        ("acct", lambda: call("acct", b"/workspace/x"))])


@check("keyrings cannot be used")
def keys():
    return open_doors([("add_key", lambda: call("add_key", b"user", b"k", b"v", 1, -3)), ("request_key", lambda: call("request_key", b"user", b"k", None, 0)),
                       ("keyctl", lambda: call("keyctl", 0, -3, 0))])


@check("attack surface that no program needs is filtered")
def surface():
    return open_doors([
        ("bpf", lambda: call("bpf", 0, None, 0)), ("perf_event_open", lambda: call("perf_event_open", None, 0, -1, -1, 0)), ("userfaultfd", lambda: call("userfaultfd", 1)),
        ("io_uring_setup", lambda: call("io_uring_setup", 1, None)), ("io_uring_enter", lambda: call("io_uring_enter", -1, 0, 0, 0, None, 0)), ("io_uring_register", lambda: call("io_uring_register", -1, 0, None, 0)),
        ("fanotify_init", lambda: call("fanotify_init", 0, 0)), ("lookup_dcookie", lambda: call("lookup_dcookie", 0, None, 0)), ("vhangup", lambda: call("vhangup")),
        ("nfsservctl", lambda: call("nfsservctl")), ("kcmp", lambda: call("kcmp", os.getpid(), os.getpid(), 1, 0, 0)), ("vmsplice of a NULL", lambda: call("vmsplice", -1, None, 0, 0) and 0),
        ("iopl", lambda: call("iopl", 3)), ("ioperm", lambda: call("ioperm", 0, 1, 1)), ("modify_ldt", lambda: call("modify_ldt", 1, None, 16)),
        ("memfd_secret", lambda: call("memfd_secret", 0)), ("pidfd_getfd", lambda: call("pidfd_getfd", -1, 0, 0)), ("process_madvise", lambda: call("process_madvise", -1, None, 0, 0, 0)),
        ("migrate_pages", lambda: call("migrate_pages", 0, 0, None, None)), ("move_pages", lambda: call("move_pages", os.getppid(), 0, None, None, None, 0)),
        ("syslog", lambda: call("syslog", 3, None, 0)), ("uselib", lambda: call("uselib", b"x")), ("_sysctl", lambda: call("_sysctl", None))],
        (errno.EBADF,))


@check("the machine cannot be changed: modules, kernel, clocks, names, power")
def machine():
    timex = ctypes.create_string_buffer(struct.pack("I", 0x4000) + bytes(256))
    return open_doors([
        ("init_module", lambda: call("init_module", None, 0, b"")), ("finit_module", lambda: call("finit_module", -1, b"", 0)), ("delete_module", lambda: call("delete_module", b"none", 0)),
        ("kexec_load", lambda: call("kexec_load", 0, 0, None, 0)), ("kexec_file_load", lambda: call("kexec_file_load", -1, -1, 0, None, 0)), ("reboot", lambda: call("reboot", 0, 0, 0, None)),
        ("settimeofday", lambda: call("settimeofday", None, None)), ("clock_settime", lambda: call("clock_settime", 0, None)), ("adjtimex", lambda: call("adjtimex", timex)),
        ("clock_adjtime", lambda: call("clock_adjtime", 0, timex)), ("sethostname", lambda: call("sethostname", b"x", 1)), ("setdomainname", lambda: call("setdomainname", b"x", 1))])


@check("nothing can be traced or read from another process, not even an own child")
def tracing():
    child = sleeper()
    local = ctypes.create_string_buffer(8)
    vector = ctypes.create_string_buffer(struct.pack("QQ", ctypes.addressof(local), 8))
    try:
        found = []
        for pid, who in ((child, "own child"), (1, "init")):
            found += open_doors([
                ("PTRACE_ATTACH " + who, lambda pid=pid: call("ptrace", 16, pid, 0, 0)), ("PTRACE_SEIZE " + who, lambda pid=pid: call("ptrace", 0x4206, pid, 0, 0)),
                ("process_vm_readv " + who, lambda pid=pid: call("process_vm_readv", pid, vector, 1, vector, 1, 0)),
                ("process_vm_writev " + who, lambda pid=pid: call("process_vm_writev", pid, vector, 1, vector, 1, 0))], (errno.ESRCH,))
        return found + open_doors([("PTRACE_TRACEME", lambda: call("ptrace", 0, 0, 0, 0))])
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


@check("file handles and personality are refused")
def handles():
    handle = ctypes.create_string_buffer(struct.pack("Ii", 8, 1) + bytes(8))
    named = ctypes.create_string_buffer(struct.pack("Ii", 128, 0) + bytes(128))
    return open_doors([("open_by_handle_at", lambda: call("open_by_handle_at", -100, handle, 0)),
                       ("name_to_handle_at", lambda: call("name_to_handle_at", -100, b"/workspace", named, ctypes.byref(ctypes.c_int()), 0))] +
                      [("personality %x" % value, lambda value=value: call("personality", value)) for value in (0x40000, 0x400000, 0x100000, 1 << 32 | 0x40000)])


def machine_code(code):
    page = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    page.write(code)
    return ctypes.CFUNCTYPE(ctypes.c_long)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()


# Of each machine. A 32-bit arm64 program would be a file of its own: the filter's answer to it is simulated (tests/policy).
FOREIGN = {"x86_64": (("int 0x80", b"\x53\xb8\x14\x00\x00\x00\xcd\x80\x5b\xc3"), ("x32", b"\xb8\x27\x00\x00\x40\x0f\x05\xc3"))}
# in al, dx from the CMOS index port; rdmsr; hlt. mrs x0, sctlr_el1; smc #0
HARDWARE = {"x86_64": (("in", b"\x66\xba\x70\x00\xec\xc3"), ("rdmsr", b"\x31\xc9\x0f\x32\xc3"), ("hlt", b"\xf4\xc3")),
            "aarch64": (("mrs", b"\x00\x10\x38\xd5\xc0\x03\x5f\xd6"), ("smc", b"\x03\x00\x00\xd4\xc0\x03\x5f\xd6"))}


@check("system calls of another ABI end the program")
def foreign_abi():
    found = []
    for name, code in FOREIGN.get(os.uname().machine, ()):
        kind, value = in_child(lambda code=code: machine_code(code))
        if kind != "signal" and not (kind == "value" and value < 0):
            found.append("%s: %s %s" % (name, kind, value))
    return found


@check("instructions that talk to hardware end the program")
def port_input():
    found = []
    for name, code in HARDWARE[os.uname().machine]:
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
        return call("ioctl", slave, request, ctypes.byref(ctypes.c_char(b"x")))

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
                 ("fifo", lambda: os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))), ("ioprio", lambda: call("ioprio_set", 1, 0, 1 << 13 | 4)),
                 ("capset", lambda: call("capset", ctypes.create_string_buffer(struct.pack("II", 0x20080522, 0)), ctypes.create_string_buffer(struct.pack("6I", 1 << 21, 1 << 21, 0, 0, 0, 0)))),
                 ("ambient", lambda: call("prctl", 47, 2, 21, 0, 0) if call("prctl", 47, 2, 21, 0, 0) == 0 else None)]
    attempts += [("RLIMIT_" + n, lambda n=n: limit(getattr(resource, "RLIMIT_" + n))) for n in ("NOFILE", "NPROC", "CORE", "FSIZE", "MEMLOCK", "RTPRIO", "NICE")]
    return open_doors(attempts, (errno.EINVAL,))

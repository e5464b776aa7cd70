# SPDX-License-Identifier: Apache-2.0
"""What can be seen and reached from inside. Parameters come from the test as PARAMETERS."""

import ctypes
import errno
import fcntl
import os
import re
import signal
import socket
import stat
import struct
import time

from inside import *


@check("every process, init too, has no capability, no new privileges and a filter")
def confined():
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        fields = status_of(pid)
        if any(int(fields[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")) or fields["NoNewPrivs"] != "1" or fields["Seccomp"] != "2":
            found.append(fields["Name"] + " " + pid)
    return found


@check("the uid outside is neither root nor an ordinary user, and only one is mapped")
def uid_outside():
    lines = [line.split() for line in open("/proc/self/uid_map")]
    if not PARAMETERS["nested"]:  # in the user namespace that all of rookery shares
        return [line for line in lines if int(line[1]) < 1000] + (["an id of rookery's own"] if os.getuid() < 1000 else [])
    return [line for line in lines if line[2] != "1" or int(line[1]) < 1000] + (["several"] if len(lines) > 1 else [])


@check("namespaces are none of the host's or the server's")
def namespaces():
    return [kind for kind, numbers in PARAMETERS["namespaces"].items() if os.readlink("/proc/self/ns/" + kind) in numbers]


@check("init's memory, files, root and environment are closed")
def init_files():
    found = [name for name in ("mem", "environ", "maps", "auxv", "stack", "syscall", "pagemap", "smaps", "io", "personality", "patch_state")
             if can_open("/proc/1/" + name, os.O_RDONLY) and read_some("/proc/1/" + name)]
    found += [name for name in ("fd", "map_files", "fdinfo", "root/") if listed("/proc/1/" + name)]
    for name in ("root", "cwd", "exe", "ns/mnt", "ns/user"):
        try:
            os.readlink("/proc/1/" + name)
            found.append(name)
        except OSError:
            pass
    found += [name for name in ("mem", "oom_score_adj", "oom_adj", "clear_refs", "comm") if can_open("/proc/1/" + name, os.O_WRONLY)]
    if can_write("/proc/1/timerslack_ns", b"1000"):  # the kernel lets anybody open it
        found.append("timerslack_ns")
    return found + open_doors([("prlimit", lambda: call("prlimit64", 1, 7, None, ctypes.create_string_buffer(16)))], (errno.ESRCH,))


def can_write(path, data):
    try:
        with open(path, "wb", buffering=0) as file:
            return file.write(data) > 0
    except OSError:
        return False


def read_some(path):
    try:
        with open(path, "rb") as file:
            return file.read(16)
    except OSError:
        return b""


@check("init survives every signal")
def init_signals():
    try:
        handle = os.pidfd_open(1)
    except OSError:
        handle = -1
    for number in range(1, 65):
        for send in (lambda: os.kill(1, number), lambda: signal.pidfd_send_signal(handle, number)):
            try:
                send()
            except OSError:
                pass
    if handle >= 0:
        os.close(handle)
    time.sleep(0.1)
    return [] if status_of(1)["State"][0] in "SR" else [status_of(1)["State"]]


@check("masked files of /proc are empty and /proc/sys is read-only")
def masked():
    found = [name for name in ("kcore", "keys", "key-users", "timer_list", "sched_debug", "kmsg", "interrupts", "cmdline", "config.gz", "iomem", "ioports",
                               "modules", "partitions", "diskstats", "swaps", "version_signature", "bootconfig", "kallsyms", "slabinfo", "vmallocinfo", "kpageflags")
             if not name == "kallsyms" and name not in ("kcore", "kmsg") and read_some("/proc/" + name)]
    found += [name for name in ("kcore", "kmsg") if can_open("/proc/" + name, os.O_RDONLY) and not stat.S_ISCHR(os.stat("/proc/" + name).st_mode)]
    addresses = read_some("/proc/kallsyms")[:16]
    if addresses.strip(b"0") and not addresses.startswith(b"0000000000000000"):
        found.append("kallsyms shows addresses")
    for top, _, names in os.walk("/proc/sys"):
        found += [os.path.join(top, name) for name in names if can_open(os.path.join(top, name), os.O_WRONLY)]
    return found + [name for name in ("sysrq-trigger", "acpi/wakeup", "mtrr", "scsi/scsi") if can_open("/proc/" + name, os.O_WRONLY)
                    and not stat.S_ISCHR(os.stat("/proc/" + name).st_mode)]


@check("no /sys, no cgroup file system, no securityfs, no debugfs")
def sys_trees():
    kinds = {line.partition(" - ")[2].split()[0] for line in open("/proc/self/mountinfo")}
    found = sorted(kinds & {"sysfs", "cgroup", "cgroup2", "securityfs", "debugfs", "tracefs", "bpf", "configfs", "pstore", "efivarfs", "fusectl", "binfmt_misc"})
    return found + listed("/sys/kernel") + listed("/sys/fs/cgroup")


@check("only the own cgroup's root shows")
def cgroup_root():
    return [line.strip() for line in open("/proc/self/cgroup") if not line.strip().endswith(":/")]


def directories_without(flag):
    """(path, names) of each directory of each mounted file system; of one with this flag of statvfs(3) only the first."""
    mounted = [line.split()[4] for line in open("/proc/self/mountinfo")]
    for place in mounted:
        for top, directories, names in os.walk(place):
            directories[:] = [name for name in directories if os.path.join(top, name) not in mounted]
            if os.statvfs(top).f_flag & flag:
                directories.clear()
            yield top, names


@check("writable places are /workspace, /tmp and /dev/shm")
def writable_places():
    found, allowed = [], ("/workspace", "/tmp", "/dev/shm", "/var/sandbox", "/var/tmp", "/proc")
    for top, _ in directories_without(os.ST_RDONLY):
        if top.startswith(allowed):
            continue
        try:
            os.close(os.open(top, os.O_TMPFILE | os.O_WRONLY, 0o600))
            found.append(top)
        except OSError as error:
            if error.errno in (errno.EOPNOTSUPP, errno.EISDIR):
                try:
                    name = os.path.join(top, ".w")
                    os.close(os.open(name, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
                    os.unlink(name)
                    found.append(top)
                except OSError:
                    pass
    return found


@check("files of the image cannot be written, its programs not through /proc/self/exe either")
def image_files():
    paths = ["/usr/bin/python3", "/bin/sh", "/etc/passwd", "/etc/hosts", "/proc/self/exe", os.path.realpath("/proc/self/exe"), "/usr/lib/os-release", "/"]
    return [path for path in paths if can_open(path, os.O_WRONLY)] + open_doors(
        [("chmod " + path, lambda path=path: os.chmod(path, 0o777)) for path in ("/usr/bin/python3", "/etc/passwd", "/")], (errno.EROFS,))


@check("no set-user-id program gives anything, none can be made")
def setuid_files():
    found = []
    for top, names in directories_without(os.ST_NOSUID):
        for name in names:
            path = os.path.join(top, name)
            try:
                if os.lstat(path).st_mode & 0o6000 and stat.S_ISREG(os.lstat(path).st_mode) and not os.statvfs(path).f_flag & os.ST_NOSUID:
                    found.append(path)
            except OSError:
                pass
    for place in ("/workspace", "/tmp", "/dev/shm"):
        if os.statvfs(place).f_flag & (os.ST_NOSUID | os.ST_NODEV) != os.ST_NOSUID | os.ST_NODEV:
            found.append(place + " honours set-user-id or devices")
    return found


@check("no socket or pipe file of the machine is in sight, which a read-only mount would not close")
def sockets_in_trees():
    found, left = [], ["/"]
    while left:
        top = left.pop()
        if top in ("/proc", "/workspace", "/tmp", "/dev/shm") or top.count("/") > PARAMETERS["depth"]:
            continue
        try:
            entries = list(os.scandir(top))
        except OSError:
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                left.append(entry.path)
            elif not entry.is_symlink() and not entry.is_file(follow_symlinks=False):
                mode = entry.stat(follow_symlinks=False).st_mode
                if stat.S_ISSOCK(mode) or stat.S_ISFIFO(mode):
                    found.append(entry.path)
    return found


@check("devices are the harmless ones and none can be made")
def devices():
    found = []
    for top, _, names in os.walk("/dev"):
        for name in names:
            mode = os.lstat(os.path.join(top, name)).st_mode
            if stat.S_ISBLK(mode) or stat.S_ISCHR(mode) and os.path.join(top, name) not in (
                    "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/ptmx", "/dev/pts/ptmx"):
                found.append(os.path.join(top, name))
    for place in ("/workspace", "/tmp", "/dev/shm"):
        found += open_doors([("mknod in " + place, lambda place=place: os.mknod(place + "/node", stat.S_IFCHR | 0o600, os.makedev(1, 3))),
                             ("mknod block in " + place, lambda place=place: os.mknod(place + "/node", stat.S_IFBLK | 0o600, os.makedev(8, 0)))])
    return found


@check("paths of the host do not exist here")
def host_paths():
    return [path for path in PARAMETERS["hidden_paths"] if os.path.exists(path) and not (os.path.isdir(path) and not listed(path))]


@check("inherited descriptors are the standard three and private pipes")
def descriptors():
    found = []
    for name in listed("/proc/self/fd"):
        try:
            link, mode = os.readlink("/proc/self/fd/" + name), os.fstat(int(name)).st_mode
        except OSError:
            continue
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or link == "/dev/null" or link.startswith(("anon_inode:[event", "/proc/"))):
            found.append(name + " " + link)
    return found


@check("a program that is started inherits descriptors 0 to 2 only")
def inherited():
    import subprocess

    lines = subprocess.run(["/bin/ls", "-l", "/proc/self/fd"], capture_output=True, text=True, close_fds=False).stdout.splitlines()[1:]
    links = [line.split()[-3::2] for line in lines]  # number and target
    return [link for link in links if int(link[0]) > 2 and not link[1].startswith("/proc/")]


@check("the environment has no secret, no loader variable and nothing of the host")
def environment():
    return [name for name in os.environ if name.startswith(("LD_", "SANDBOX_", "ROOKERY", "TELEMETRY", "AWS_", "SSH", "KUBERNETES")) or
            re.search(PARAMETERS["secret_pattern"], os.environ[name])]


@check("sockets are unix, inet and inet6, of plain kinds")
def socket_families():
    found = []
    for family in range(46):
        for kind in (1, 2, 3, 4, 5, 10):
            try:
                os.close(call("socket", family, kind, 0))
                if family not in (1, 2, 10) or kind == 3:
                    found.append((family, kind))
            except OSError:
                pass
    attempts = [("family %d with high bits" % family, lambda family=family: call("socket", 1 << 32 | family, 3, 0)) for family in (16, 17, 38, 40)]
    attempts += [("protocol %d" % protocol, lambda kind=kind, protocol=protocol: call("socket", 2, kind, protocol))
                 for kind, protocol in ((1, 262), (1, 132), (2, 136), (2, 115), (3, 1), (3, 255), (6, 33))]
    return found + open_doors(attempts, (errno.EAFNOSUPPORT, errno.EPROTONOSUPPORT, errno.ESOCKTNOSUPPORT, errno.EINVAL))


@check("the network is an own loopback without neighbours")
def network():
    found = [line.split(":")[0].strip() for line in open("/proc/net/dev") if ":" in line and not line.strip().startswith("lo:")]
    for port in PARAMETERS["host_ports"]:
        with socket.socket() as probe:
            probe.settimeout(2)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                found.append("port %d" % port)
    for name in PARAMETERS["abstract_names"]:
        with socket.socket(socket.AF_UNIX) as probe:
            if probe.connect_ex("\0" + name) == 0:
                found.append("abstract " + name)
    for address in ("192.0.2.1", "169.254.169.254", "10.0.0.1", "8.8.8.8"):
        with socket.socket() as probe:
            probe.settimeout(2)
            if probe.connect_ex((address, 80)) not in (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.EACCES, errno.EPERM):
                found.append(address)
    return found


@check("names fail to resolve at once")
def resolver():
    start = time.monotonic()
    try:
        return [socket.getaddrinfo("example.com", 80)]
    except OSError:
        return [] if time.monotonic() - start < 2 else ["slow"]


@check("no terminal of anybody else")
def terminals_seen():
    return [name for name in listed("/dev/pts") if name != "ptmx"]


@check("the host's name, boot parameters and other sessions' names do not show")
def names():
    texts = [os.uname().nodename, str(listed("/var/sandbox/sessions")), str(listed("/workspace")), str(listed("/tmp"))]
    for path in ("/proc/self/mountinfo", "/proc/self/cgroup", "/proc/1/cmdline", "/proc/self/environ", "/proc/cmdline"):
        texts.append(read_all(path))
    return [name for name in PARAMETERS["hidden_names"] if any(name in text for text in texts)]


def read_all(path):
    try:
        with open(path, errors="replace") as file:
            return file.read()
    except OSError:
        return ""


@check("pipes and file leases cannot be used to hoard kernel memory or stall others")
def kernel_memory():
    read, write = os.pipe()
    try:
        size = fcntl.fcntl(write, 1031, 2 << 20)
        return ["pipe of %d" % size]
    except OSError:
        return []

# SPDX-License-Identifier: Apache-2.0
"""Boots the stock kernel of Debian or Ubuntu in qemu on this machine's own files, with cgroup v2 only, and gives what the tests there said.

No disk image is made."""

import json
import lzma
import pathlib
import shutil
import subprocess
import tempfile

import debian_kernel
import ubuntu
from debian_kernel import Unavailable

HERE = pathlib.Path(__file__).resolve().parent
# In the order in which they need each other; newer kernels have some of them built in.
MODULES = ("virtio_ring", "virtio", "virtio_pci_modern_dev", "virtio_pci_legacy_dev", "virtio_pci", "netfs", "fscache",
           "9pnet", "9pnet_virtio", "9p", "overlay", "llc", "stp", "bridge", "veth")
MEMORY_MB = 3072
# The job as a service of systemd, and what a machine that is up has beside it.
UNIT = """[Unit]
After=basic.target systemd-logind.service dbus.service
Requires=basic.target
Wants=systemd-logind.service dbus.service
[Service]
ExecStart=/usr/bin/python3 -B {guest}
"""


def module(file):
    if file.suffix == ".zst":
        return subprocess.run(["zstd", "-dc", file], check=True, stdout=subprocess.PIPE).stdout
    return lzma.decompress(file.read_bytes()) if file.suffix == ".xz" else file.read_bytes()


def write_initramfs(unpacked, to):
    with tempfile.TemporaryDirectory() as scratch:
        root = pathlib.Path(scratch)
        (root / "bin").mkdir()
        (root / "modules").mkdir()
        shutil.copy("/bin/busybox", root / "bin" / "busybox")
        shutil.copy(HERE / "init.sh", root / "init")
        (root / "init").chmod(0o755)
        order = []
        for name in MODULES:
            for found in unpacked.glob("**/%s.ko*" % name):
                (root / "modules" / name).write_bytes(module(found))
                order.append(name)
        (root / "modules" / "order").write_text("\n".join(order))
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        with open(to, "wb") as archive:
            subprocess.run(["cpio", "-o", "-H", "newc", "--quiet"], cwd=root, input=names.encode(), stdout=archive, check=True)


def boot(cache, job, seconds, parameters="", suite="", systemd=False):
    """Runs the job (guest.py) on a fresh boot of the kernel of `suite`, a release of Debian or "ubuntu". Gives (facts, tallies, what went wrong or "")."""
    for program in ("qemu-system-x86_64", "cpio", "busybox", "dpkg-deb", "zstd"):
        if not shutil.which(program):
            raise Unavailable("no " + program)
    unpacked = ubuntu.kernel(cache) if suite == "ubuntu" else debian_kernel.kernel(cache, suite)
    with tempfile.TemporaryDirectory(prefix="rookery-vm-") as scratch:
        results = pathlib.Path(scratch)
        (results / "job.json").write_text(json.dumps({**job, "systemd": systemd}))
        (results / "guest").write_text(str(HERE / "guest.py"))
        if systemd:
            (results / "unit").write_text(UNIT.format(guest=HERE / "guest.py"))
        initramfs = results / "initramfs"
        write_initramfs(unpacked, initramfs)
        console = results / "console"
        command = ["qemu-system-x86_64", "-accel", "tcg,thread=multi", "-cpu", "max", "-smp", "2", "-m", str(MEMORY_MB), "-nodefaults",
                   "-no-reboot", "-display", "none", "-serial", "file:%s" % console,
                   "-kernel", next(unpacked.glob("boot/vmlinuz-*")), "-initrd", initramfs,
                   "-append", "console=ttyS0 quiet panic=-1 " + parameters,
                   "-virtfs", "local,path=/,mount_tag=host,security_model=passthrough,readonly=on,multidevs=remap",
                   "-virtfs", "local,path=%s,mount_tag=results,security_model=passthrough" % results]
        problem = ""
        try:
            ended = subprocess.run([str(part) for part in command], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds)
            if ended.returncode != 0:
                problem = "qemu ended with %d: %s" % (ended.returncode, ended.stderr[-1000:])
        except subprocess.TimeoutExpired:
            problem = "the guest did not end within %d s" % seconds
        said = console.read_text(errors="replace")[-3000:] if console.exists() else ""
        if (results / "broken").exists():
            problem = (results / "broken").read_text()
        elif not problem and not (results / "facts.json").exists():
            problem = "the guest ended before its tests began"
        if problem:
            problem += "\nits console:\n" + said
        lines = (results / "tallies").read_text().splitlines() if (results / "tallies").exists() else []
        facts = json.loads((results / "facts.json").read_text()) if (results / "facts.json").exists() else {}
        return facts, [json.loads(line) for line in lines], problem

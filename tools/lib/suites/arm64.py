# SPDX-License-Identifier: Apache-2.0
"""Builds everything for arm64 and runs its units under qemu's user emulation.

The emulator hands system calls to this machine's kernel, but neither seccomp nor openat2: what needs them is left out, and
counted as skipped. Filters are compiled, and simulated call by call, by arm64's own libseccomp."""

import platform
import shutil
import sys
import tempfile

from debian_tree import debian_tree

from .tally import Tally, fail, from_output, run, skip

PACKAGES = ("libc6-dev,libstdc++-12-dev,linux-libc-dev,libseccomp-dev,libcap-dev,libcpp-httplib-dev,rapidjson-dev,libspdlog-dev,doctest-dev,"
            "python3,libpython3-dev")
CROSS_FILE = """\
[binaries]
cpp = [{ccache}'aarch64-linux-gnu-g++', '--sysroot={root}']
ar = 'aarch64-linux-gnu-ar'
strip = 'aarch64-linux-gnu-strip'
pkgconfig = 'pkg-config'
exe_wrapper = ['qemu-aarch64-static', '-L', '{root}']
[properties]
sys_root = '{root}'
pkg_config_libdir = '{root}/usr/lib/aarch64-linux-gnu/pkgconfig:{root}/usr/share/pkgconfig'
[host_machine]
system = 'linux'
cpu_family = 'aarch64'
cpu = 'aarch64'
endian = 'little'
"""
# Else libseccomp takes the emulator for an old kernel, and refuses to compile.
NEW_KERNEL = "#include <seccomp.h>\n[[gnu::constructor]] static void assume_it() { seccomp_api_set(6); }\n"
# Programs below tests/, and what of them the emulator cannot: doctest's options.
UNITS = dict.fromkeys(["unit/%s/unit_%s" % (name, name) for name in ("cli", "contract", "exporter", "log", "server", "telemetry", "util", "warden", "wire")], "")
UNITS["unit/http/unit_http"] = "--test-case-exclude=threads that linger*"  # 20 ms are too short for it
UNITS["unit/files/unit_files"] = "--source-file-exclude=*beneath_*,*editor_*,*file_reader_*,*upload_file_*,*workspace_snapshot_*"
UNITS["unit/sys/unit_sys"] = "--test-case-exclude=a session's refusals*,unknown calls give*,the server can make*,the exporter opens*"
UNITS["policy/policy_test"] = "--test-case-exclude=native*"


def arm64(source):
    if platform.machine() == "aarch64":
        return skip("arm64: this machine is one, so the other suites are it")
    try:
        root = debian_tree("bookworm", PACKAGES, "arm64")
    except AssertionError as error:
        return fail("arm64: no packages of it: %s" % error)
    build = source / "build-arm64"
    tally = build_all(source, build, root)
    if tally.failed:
        return tally
    for check in (programs(build), packages(source), *units(build, root)):
        tally += check
    return tally


def build_all(source, build, root):
    build.mkdir(exist_ok=True)
    cross_file = build / "cross-file.ini"
    cross_file.write_text(CROSS_FILE.format(root=root, ccache="'ccache', " if shutil.which("ccache") else ""))
    if not (build / "build.ninja").exists():
        status, output = run(["meson", "setup", build, source, "--cross-file", cross_file], 120)
        if status != 0:
            return fail("arm64: meson\n%s" % output[-3000:])
    status, output = run(["ninja", "-C", build], 3600)
    if status != 0:
        return fail("arm64: build\n%s" % output[-4000:])
    (build / "new_kernel.cpp").write_text(NEW_KERNEL)
    status, output = run(["aarch64-linux-gnu-g++", "--sysroot=%s" % root, "-I%s/usr/include" % root, "-shared", "-fPIC", build / "new_kernel.cpp",
                          "-o", build / "new_kernel.so", "-L%s/usr/lib/aarch64-linux-gnu" % root, "-lseccomp"], 120)
    return Tally(passed=1) if status == 0 else fail("arm64: build\n%s" % output[-4000:])


def programs(build):
    """All that is shipped is for arm64, the parts inside the program too."""
    wrong = []
    for name in ("rookery", "src/jail/rookery-init", "src/repl/_rookery.abi3.so"):
        head = (build / name).read_bytes()[:20]
        if head[:4] != b"\x7fELF" or int.from_bytes(head[18:20], "little") != 183:  # EM_AARCH64
            wrong.append(name)
    return fail("arm64: not for arm64: %s" % ", ".join(wrong)) if wrong else Tally(passed=1)


def packages(source):
    """Each package of the image has, under a pinned hash, a wheel for arm64 and the image's Python."""
    with tempfile.TemporaryDirectory() as place:
        platforms = [word for version in ("2014", "_2_17", "_2_27", "_2_28") for word in ("--platform", "manylinux%s_aarch64" % version)]
        status, output = run([sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:", "--require-hashes",
                              "--python-version", "3.12", *platforms, "-d", place, "-r", source / "container" / "requirements.txt"], 600)
    return Tally(passed=1) if status == 0 else fail("arm64: packages of the image\n%s" % output[-3000:])


def units(build, root):
    emulator = ["qemu-aarch64-static", "-L", root, "-E", "LD_PRELOAD=%s" % (build / "new_kernel.so")]
    status, output = run([*emulator, build / "rookery", "policy", "session", "--pseudo-code"], 60)
    yield Tally(passed=1) if status == 0 and "filter for arch aarch64" in output else fail("arm64: rookery policy\n%s" % output[-2000:])
    for name, left_out in UNITS.items():
        status, output = run([*emulator, build / "tests" / name, *([left_out] if left_out else [])], 900)
        tally = from_output("arm64: " + name, status, output)
        if left_out:
            tally.reasons.append("skipped: arm64: %s: the emulator has no part of the kernel that it needs, or no speed: %s" % (name, left_out))
        print("  %-28s %s" % (name, tally), flush=True)
        yield tally

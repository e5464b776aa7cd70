# SPDX-License-Identifier: Apache-2.0
"""Starts the backends that do only what none can do without. What is measured of them, by the same clients, is what the machine costs."""

import contextlib
import subprocess

from sandboxclient import Sandbox

from .compiled import compiled


@contextlib.contextmanager
def started():
    """{a measure's `floor`: the backend that has it} until the end of the block. Throws RuntimeError when they cannot be made."""
    httplib = subprocess.run(["pkg-config", "--cflags", "--libs", "cpp-httplib"], capture_output=True, text=True)
    if httplib.returncode != 0:
        raise RuntimeError("--floors needs cpp-httplib: apt-get install pkg-config libcpp-httplib-dev")
    with served("floors.cpp", *httplib.stdout.split()) as calls, served("file_floor.cpp") as files:
        yield {"calls": calls, "files": files}


@contextlib.contextmanager
def served(source, *flags):
    with compiled(source, *flags, "-pthread") as program, subprocess.Popen([program], stdout=subprocess.PIPE, text=True) as process:
        try:
            port = process.stdout.readline()
            if not port:
                raise RuntimeError("%s does not serve; its error is above" % source)
            yield Sandbox("http://127.0.0.1:" + port.strip())
        finally:
            process.kill()

# SPDX-License-Identifier: Apache-2.0
"""Starts the reference backend from a checkout of it, with the python whose environment has its packages."""

import contextlib
import os
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request


@contextlib.contextmanager
def started(checkout, python):
    """(base URL, pid) of a reference that runs until the end of the block."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with tempfile.TemporaryDirectory(prefix="reference-sessions-") as root:
        environment = {**os.environ, "SANDBOX_SESSIONS_ROOT": root, "PATH": os.path.dirname(os.path.abspath(python)) + ":" + os.environ["PATH"]}
        process = subprocess.Popen([python, "-m", "uvicorn", "sandbox.exec_server:app", "--host", "127.0.0.1", "--port", str(port), "--no-access-log"],
                                   cwd=checkout, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)
        try:
            wait_for_health("http://127.0.0.1:%d/health" % port, process)
            yield "http://127.0.0.1:%d" % port, process.pid
        finally:
            os.killpg(process.pid, signal.SIGTERM)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()


def wait_for_health(url, process):
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline and process.poll() is None:
        with contextlib.suppress(OSError):
            urllib.request.urlopen(url, timeout=1).read()
            return
        time.sleep(0.1)
    raise RuntimeError("the reference does not start; see tools/conformance --help for what it needs")

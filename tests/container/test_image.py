# SPDX-License-Identifier: Apache-2.0
"""The image itself, and a container in the way that is recommended."""

import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile
import time
import unittest

import container_server
import data_science
import engine
import process_tree
from harness import SOURCE, ServerTestCase, new_server, running, wait_for

# Everything set-uid or set-gid, every compiler, and the caches of apt and pip.
UNWANTED = """
find / -xdev -type f -perm /6000
for name in cc gcc g++ c++ clang cc1 ld as make; do command -v $name; done
find /root /var/cache /var/lib/apt/lists /opt/sandbox -name '*.whl' -o -name '*.deb' -o -path '*/pip/http*' -o -path /var/lib/apt/lists/'*Packages*'
true
"""
TOOLS = "bash curl file gawk awk grep jq sed sort head sha256sum python3 python"


def in_image(script):
    return engine.docker("run", "--rm", "--entrypoint", "bash", container_server.IMAGE, "-c", script)[1]


class Image(ServerTestCase):
    """Run with the least privileges."""

    settings = {"SANDBOX_SESSION_GC_INTERVAL": "1"}

    def test_nothing_in_it_that_an_attacker_would_like(self):
        self.assertEqual(in_image(UNWANTED), "")

    def test_what_the_engine_is_told(self):
        config = engine.inspect(container_server.IMAGE)["Config"]
        self.assertEqual(list(config["ExposedPorts"]), ["8080/tcp"])
        self.assertEqual(config["StopSignal"], "SIGTERM")
        self.assertIn("http://127.0.0.1:8080/health", " ".join(config["Healthcheck"]["Test"]))
        self.assertIn("SANDBOX_SESSIONS_ROOT=/var/sandbox/sessions", config["Env"])
        self.assertEqual(config["Labels"]["org.opencontainers.image.title"], "rookery")
        self.assertEqual(config["Labels"]["org.opencontainers.image.licenses"], "Apache-2.0")
        self.assertTrue(config["Labels"]["org.opencontainers.image.version"])

    def test_byte_code_is_built_in(self):
        self.assertEqual(in_image("ls /opt/sandbox/venv/lib/python3*/site-packages/pandas/__pycache__/__init__.*.pyc | wc -l").strip(), "1")
        self.assertEqual(in_image("ls $(dirname $(python3 -c 'import json; print(json.__file__)'))/__pycache__/decoder.*.pyc | wc -l").strip(), "1")

    def test_matplotlib_has_its_list_of_fonts_in_every_program(self):
        program = "import logging; logging.basicConfig(level=10); import matplotlib.font_manager"
        self.assertIn("Using fontManager instance from /tmp/.config/matplotlib/", self.session.bash("python3 -c '%s' 2>&1" % program).stdout)

    def test_sessions_have_the_tools_of_the_reference(self):
        self.assertEqual(self.session.bash("for name in %s; do command -v $name > /dev/null || echo $name; done" % TOOLS).stdout, "")
        self.assertEqual(self.session.bash("printf %s '{\"a\":[1,2]}' | jq -c .a; file -b --mime-type /opt/sandbox/venv/pyvenv.cfg").stdout.split(), ["[1,2]", "text/plain"])

    def test_a_data_science_session(self):
        lines = (SOURCE / "container" / "requirements.in").read_text().splitlines()
        data_science.check(self, self.session, "\n".join(line for line in lines if "==" in line))

    def test_it_is_the_first_process_and_reaps(self):
        self.assertEqual(process_tree.status(self.server.pid)["NSpid"].split()[1], "1")
        # An orphan of another process of the container goes to the first one.
        engine.docker("exec", self.server.name, "bash", "-c", "(sleep 0.2 & exec sleep 0.1) & sleep 0.5")
        wait_for(lambda: not re.search(r"<defunct>", engine.docker("top", self.server.name)[1]), 5, "no zombies")

    def test_the_engine_sees_it_healthy(self):
        wait_for(lambda: engine.inspect(self.server.name)["State"]["Health"]["Status"] == "healthy", 60, "healthy")

    def test_no_process_holds_a_capability_or_root_of_the_host(self):
        self.session.bash("sleep 30 &")
        for pid in self.server.tree():
            fields = process_tree.status(pid)
            if not fields or fields["PPid"] == "0":
                continue
            self.assertNotIn("0", fields["Uid"].split()[:3], process_tree.title(pid))
            if process_tree.in_host_user_namespace(pid):
                for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                    self.assertEqual(int(fields[kind], 16), 0, (process_tree.title(pid), kind))

    def test_interpreters_that_end_keep_no_later_one_from_starting(self):
        """An interpreter may be ended in the middle of its fork from the zygote, with the locks of a newer libc than Debian 12's."""
        def live(_):
            with self.sandbox.create() as session:
                session.code("import os; os._exit(1)")
                return session.code("print(6 * 7)").stdout

        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            self.assertEqual(set(pool.map(live, range(200))), {"42"})

    def test_the_contract_holds(self):
        url = "http://127.0.0.1:%d" % self.server.port
        done = subprocess.run([sys.executable, "-B", SOURCE / "tools" / "conformance", url], capture_output=True, text=True, timeout=500)
        self.assertRegex(done.stdout, r"(?m)^[1-9]\d+ passed, 0 failed, 0 skipped$", done.stdout[-3000:])


class SessionsRoot(unittest.TestCase):
    """On the disk instead of a tmpfs, where it outlives the container."""

    def test_the_next_container_takes_it_over_and_clears_it(self):
        with tempfile.TemporaryDirectory(prefix="rookery-test-", dir="/var/tmp") as place:
            def left():
                return {name for name in os.listdir(place) if name.startswith("sbx_")}

            killed = set()
            for end in ("kill", "stop", "stop"):
                server = new_server({"SANDBOX_WORKSPACE": "dir", "SANDBOX_POOL_SIZE": "0"}, more=["-v", place + ":/var/sandbox/sessions"])
                self.addCleanup(server.clean_up)
                server.wait_until_ready()
                self.assertEqual(killed & left(), set())
                session = server.sandbox.create()
                self.assertEqual(session.bash("mkdir -p a/b && touch a/b/c && chmod 0 a && chmod 500 . && echo made").stdout, "made\n")
                engine.docker(end, server.name)
                server.process.wait(60)
                killed = left()
                self.assertEqual(bool(killed), end == "kill")


class Stop(unittest.TestCase):
    def test_docker_stop_is_quick_and_leaves_nothing(self):
        with running() as server:  # asserts at its end that nothing is left
            session = server.sandbox.create()
            session.bash("sleep 1000 & sleep 1001 &")
            session.code("x = bytearray(50_000_000)")
            start = time.monotonic()
            engine.docker("stop", server.name)
            self.assertLess(time.monotonic() - start, 3)

# SPDX-License-Identifier: Apache-2.0
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from harness import BINARY, SOURCE, plain_environment, running


def rookery(*arguments, settings=None):
    return subprocess.run([BINARY, *arguments], env=plain_environment(settings or {}), stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=30)


class Configuration(unittest.TestCase):
    """One table of settings: what it says is what is in force, in every place where it shows."""

    def setUp(self):
        self.place = tempfile.TemporaryDirectory(prefix="rookery-test-")
        self.addCleanup(self.place.cleanup)
        self.file = os.path.join(self.place.name, "rookery.json")

    def write(self, value):
        pathlib.Path(self.file).write_text(value if isinstance(value, str) else json.dumps(value))

    def config(self, *arguments, settings=None):
        done = rookery("config", "--json", *arguments, settings=settings)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def test_readme_table_is_the_programs(self):
        done = subprocess.run([sys.executable, SOURCE / "tools" / "docs", "--check", BINARY.resolve().parent], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_lists_every_setting_with_its_range(self):
        text = rookery("serve", "--help").stdout
        for variable in self.config():
            self.assertIn(variable, text)
        self.assertIn("whole number from 1 to 10000", text)

    def test_config_tells_value_and_source(self):
        self.write({"SANDBOX_POOL_SIZE": 1, "SANDBOX_MAX_SESSIONS": 1, "SANDBOX_MAX_THREADS": 9})
        found = self.config("--config", self.file, "--max-sessions", "3", settings={"SANDBOX_MAX_SESSIONS": "2", "SANDBOX_POOL_SIZE": "2"})
        told = {name: (row["value"], row["source"]) for name, row in found.items()}
        self.assertEqual(told["SANDBOX_MAX_SESSIONS"], ("3", "flag --max-sessions"))
        self.assertEqual(told["SANDBOX_POOL_SIZE"], ("2", "environment"))
        self.assertEqual(told["SANDBOX_MAX_THREADS"], ("9", "file " + self.file))
        self.assertEqual(told["SANDBOX_RUNNER_NOFILE"], ("256", "default"))

    def test_config_takes_what_serve_takes(self):
        done = rookery("config", settings={"SANDBOX_MAX_SESSIONS": "none"})
        self.assertEqual(done.returncode, 2)
        self.assertIn('SANDBOX_MAX_SESSIONS="none" is not usable: allowed is a whole number from 1 to 10000', done.stderr)

    def test_file_with_an_unknown_name_or_a_wrong_type_ends_the_start(self):
        for content, words in (({"SANDBOX_MAX_SESSION": 1}, "SANDBOX_MAX_SESSION"), ({"LOG_LEVEL": 3}, "LOG_LEVEL"),
                               ({"SANDBOX_MAX_SESSIONS": "3"}, "SANDBOX_MAX_SESSIONS"), ({"SANDBOX_MAX_SESSIONS": 0}, "from 1 to 10000"),
                               ("[1]", "object"), ("{", self.file)):
            with self.subTest(content=content):
                self.write(content)
                done = rookery("serve", "--config", self.file)
                self.assertEqual(done.returncode, 2)
                self.assertIn(words, done.stderr)
                self.assertTrue(done.stderr.startswith("rookery: "), done.stderr)

    def test_file_that_is_not_there(self):
        done = rookery("serve", settings={"SANDBOX_CONFIG": "/nonexistent/rookery.json"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("/nonexistent/rookery.json", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
    def test_server_runs_with_what_the_file_says_and_the_environment_goes_over_it(self):
        os.chmod(self.place.name, 0o700)  # the path is read before root is given up
        self.write({"SANDBOX_MAX_SESSIONS": 5, "SANDBOX_POOL_SIZE": 1, "SANDBOX_SESSION_IDLE_TIMEOUT": 77})
        with running({"SANDBOX_CONFIG": self.file, "SANDBOX_MAX_SESSIONS": "6"}) as server:
            self.assertEqual(server.sandbox.health()["max_sessions"], 6)
            session = server.sandbox.create()
            self.assertEqual(session.info().json()["idle_timeout_seconds"], 77)
            session.delete()

    def test_help_at_each_level(self):
        for command in ("serve", "check", "run", "config", "policy", "version"):
            done = rookery(command, "--help")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            self.assertIn("rookery " + command, done.stdout)
            self.assertIn(command, rookery("--help").stdout)
            self.assertIn("Exit status" if command != "version" else "version", done.stdout)
            self.assertEqual(rookery(command, "--nonsense").returncode, 125 if command == "run" else 2)
        self.assertEqual(rookery("nonsense").returncode, 2)
        self.assertEqual(rookery().returncode, 2)

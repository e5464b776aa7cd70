# SPDX-License-Identifier: Apache-2.0
"""tools/lint refuses a careless policy, and `rookery policy` prints what is built in."""

import importlib.machinery
import importlib.util
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.environ.get("ROOKERY_BINARY", str(SOURCE / "build" / "rookery"))
ROLES = ("session", "exporter", "server", "supervisor", "token-reader", "warden", "zygote")


def load_lint():
    loader = importlib.machinery.SourceFileLoader("rookery_lint", str(SOURCE / "tools" / "lint"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class Lint(unittest.TestCase):
    lint = load_lint()

    def problems(self, *rules, default="SCMP_ACT_ERRNO"):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory) / "role.json"
            path.write_text(json.dumps({"defaultAction": default, "defaultErrnoRet": 38, "syscalls": list(rules)}))
            return list(self.lint.policy_problems(path))

    @staticmethod
    def allow(name, **more):
        return {"names": [name], "action": "SCMP_ACT_ALLOW", **more}

    def test_a_careful_policy_passes(self):
        refusal = {"names": ["read"], "action": "SCMP_ACT_ERRNO", "errnoRet": 1, "args": [{"index": 0, "value": 3, "op": "SCMP_CMP_EQ"}]}
        self.assertEqual(self.problems(self.allow("read"), self.allow("ptrace", comment="for a test"), refusal), [])

    def test_an_unknown_name_is_rejected(self):
        self.assertEqual(len(self.problems(self.allow("reed"))), 1)

    def test_a_duplicate_is_rejected(self):
        self.assertEqual(self.problems(self.allow("read"), self.allow("read")), ["read twice"])
        self.assertEqual(self.problems({"names": ["read", "write", "read"], "action": "SCMP_ACT_ALLOW"}), ["read twice"])

    def test_a_risky_call_without_a_reason_is_rejected(self):
        for name in ("ptrace", "bpf", "setns", "io_uring_setup", "ioctl"):
            self.assertEqual(self.problems(self.allow(name)), ["%s is allowed without a reason" % name])

    def test_a_denylist_is_rejected(self):
        self.assertEqual(len(self.problems(self.allow("read"), default="SCMP_ACT_ALLOW")), 1)

    def test_a_promise_without_its_test_is_rejected(self):
        with tempfile.TemporaryDirectory() as directory:
            source = pathlib.Path(directory)
            (source / "tests").mkdir()
            (source / "tests" / "a.py").write_text("def test_one(self):\n    pass\n")
            (source / "SECURITY.md").write_text("| promise | `tests/a.py: test_one`, `tests/a.py: test_two`, `tests/b.py: test_one` |")
            lint = load_lint()
            lint.SOURCE = source
            self.assertEqual(len(list(lint.security_problems())), 2)

    def test_the_policies_of_the_tree_pass(self):
        files = sorted((SOURCE / "policy" / "seccomp").glob("*.json"))
        self.assertEqual([path.stem for path in files], sorted(ROLES))
        for path in files:
            self.assertEqual(list(self.lint.policy_problems(path)), [], path)


class PolicyCommand(unittest.TestCase):
    def run_policy(self, *arguments):
        return subprocess.run([BINARY, "policy", *arguments], capture_output=True, text=True)

    def test_each_role_as_oci_json(self):
        for role in ROLES:
            printed = self.run_policy(role)
            self.assertEqual((printed.returncode, printed.stderr), (0, ""))
            self.assertEqual(json.loads(printed.stdout), json.loads((SOURCE / "policy" / "seccomp" / (role + ".json")).read_text()))
        self.assertEqual(self.run_policy().stdout, self.run_policy("session").stdout)

    def test_each_role_as_pseudo_code(self):
        for role in ROLES:
            printed = self.run_policy(role, "--pseudo-code")
            self.assertEqual(printed.returncode, 0, printed.stderr)
            self.assertIn('filter for syscall "exit_group"', printed.stdout)
            self.assertIn("action KILL_PROCESS", printed.stdout)
        self.assertNotIn('filter for syscall "openat"', self.run_policy("supervisor", "--pseudo-code").stdout)

    def test_an_unknown_role_and_two_roles_are_refused(self):
        for arguments in (("init",), ("session", "server"), ("--pfc",)):
            printed = self.run_policy(*arguments)
            self.assertEqual((printed.returncode, printed.stdout), (2, ""))
            self.assertIn("rookery", printed.stderr)
        self.assertIn("supervisor", self.run_policy("--help").stdout)


if __name__ == "__main__":
    unittest.main()

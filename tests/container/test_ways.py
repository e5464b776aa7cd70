# SPDX-License-Identifier: Apache-2.0
"""Every documented way to run the image works, and what cannot work says what to add."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import container_server
import data_science
import engine
import process_tree
import ways
import yaml
from container_server import ContainerServer
from harness import SOURCE, running, wait_for


def refusal(*arguments):
    """The output of a container that must not start."""
    status, output = engine.docker("run", "--rm", *arguments, container_server.IMAGE, timeout=60, check=False)
    if status == 0:
        raise AssertionError("it started:\n" + output)
    return output


class Ways(unittest.TestCase):
    def works(self, way, jail="nested"):
        requirements = [line for line in (SOURCE / "container" / "requirements.in").read_text().splitlines() if "==" in line]
        with running(way=way) as server:
            self.assertEqual(server.sandbox.health()["jail"], jail)
            for pid in server.tree():
                if process_tree.in_host_user_namespace(pid):
                    self.assertEqual(int(process_tree.status(pid)["CapPrm"], 16), 0, process_tree.title(pid))
            with server.sandbox.create() as session:
                data_science.check(self, session, "\n".join(requirements))

    def test_privileged(self):
        self.works("privileged")  # or the nearest to it that the engine has

    @unittest.skipUnless(os.path.exists("/proc/sys/kernel/apparmor_restrict_unprivileged_userns"),
                         "this kernel's AppArmor restricts no user namespaces; tests/vm/test_restricted_image.py has one that does")
    def test_hosts_that_restrict_user_namespaces(self):
        subprocess.run(["apparmor_parser", "-r", SOURCE / "container" / "apparmor" / "rookery"], check=True)
        for more in (["--security-opt", "apparmor=rookery"], ["--cap-add", "SYS_ADMIN"]):
            with running(way="least", more=more) as server:
                self.assertEqual(server.sandbox.health()["jail"], "nested")

    def test_every_capability_can_be_granted(self):
        if not container_server.can_be_privileged():
            self.skipTest("this engine cannot start --privileged (the machine has not every capability): all others were granted instead")

    def test_least_with_the_hosts_cgroup_namespace(self):
        self.works("least, cgroupns host")

    def test_least_with_a_cgroup_namespace_of_its_own(self):
        self.works("least, cgroupns private")

    def test_check_and_run_in_the_recommended_way(self):
        status, output = engine.docker("run", "--rm", *ways.LEAST, container_server.IMAGE, "check")
        self.assertRegex(output, r"(?m)^trial +ok ")
        self.assertIn("rookery can serve here", output)
        self.assertIn("42\n", engine.docker("run", "--rm", *ways.LEAST, container_server.IMAGE, "run", "-c", "print(6 * 7)")[1])

    def test_with_sys_admin_it_unmasks_proc_itself(self):
        self.works("with SYS_ADMIN, /proc masked")

    def test_flat_jails(self):
        self.works("least, flat jails", "flat")


class Kubernetes(unittest.TestCase):
    def test_its_hook_drains_without_a_token_and_waits_for_the_sessions(self):
        documents = yaml.safe_load_all((SOURCE / "container" / "kubernetes" / "rookery.yaml").read_text())
        pod = next(document for document in documents if document["kind"] == "StatefulSet")["spec"]["template"]["spec"]
        hook = pod["containers"][0]["lifecycle"]["preStop"]["exec"]["command"]
        with running({"SANDBOX_AUTH_TOKEN": "word"}, way="with SYS_ADMIN, /proc masked") as server:
            def ask(method, target):
                return server.sandbox.request(method, target, headers=("Authorization: Bearer word",))

            session = ask("POST", "/sessions").json()["session_id"]
            waiting = subprocess.Popen([engine.DOCKER, "exec", server.name, *hook])
            self.addCleanup(waiting.kill)
            wait_for(lambda: server.sandbox.health()["status"] == "draining", 10, "draining")
            self.assertEqual(ask("POST", "/sessions").status, 503)
            time.sleep(3)
            self.assertIsNone(waiting.poll())
            self.assertEqual(ask("DELETE", "/sessions/" + session).status, 204)
            self.assertEqual(waiting.wait(20), 0)


class Refusals(unittest.TestCase):
    def test_a_plain_run_says_what_to_add(self):
        output = refusal()
        for part in ("rookery: jails cannot be made here", "--security-opt seccomp=docker-seccomp.json", "systempaths=unconfined", "--privileged"):
            self.assertIn(part, output)

    def test_each_capability_of_the_shortest_list_is_needed_and_named(self):
        for missing in ways.CAPABILITIES:
            kept = [name for name in ways.CAPABILITIES if name != missing]
            self.assertIn("CAP_" + missing, refusal(*ways.options(kept), "--read-only", "--tmpfs", ways.TMPFS))

    def test_each_security_option_is_needed(self):
        for missing in ("systempaths=unconfined", "seccomp=container/docker-seccomp.json"):
            kept = [name for name in ways.SECURITY if name != missing]
            output = refusal(*ways.options(security=kept), "--read-only", "--tmpfs", ways.TMPFS)
            self.assertIn("--security-opt " + missing.replace("container/", ""), output)

    def test_check_names_it_too(self):
        status, output = engine.docker("run", "--rm", *ways.options(["CHOWN"], []), container_server.IMAGE, "check", check=False)
        self.assertEqual(status, 1, output)
        self.assertRegex(output, r"capabilities +MISSING +the start lacks CAP_SETUID CAP_SETGID CAP_SETPCAP")
        self.assertRegex(output, r"namespaces +MISSING .*docker-seccomp.json")


class Remapped(unittest.TestCase):
    """An engine that puts containers into a user namespace."""

    @classmethod
    def setUpClass(cls):
        cls.directory = pathlib.Path(tempfile.mkdtemp(prefix="rookery-remapped-", dir="/var/tmp"))
        cls.directory.chmod(0o755)
        cls.addClassCleanup(shutil.rmtree, cls.directory, ignore_errors=True)
        image = cls.directory / "image.tar"
        engine.docker("save", "-o", image, container_server.IMAGE, timeout=400)
        context = engine.Engine(cls.directory / "engine", ["--userns-remap", "default"], number=1)
        context.__enter__()
        cls.addClassCleanup(context.__exit__)
        engine.docker("load", "-i", image, timeout=400)

    def test_its_cgroups_are_not_the_containers(self):
        self.assertIn("--userns=host", refusal(*ways.LEAST))

    def test_with_the_hosts_user_namespace_it_works(self):
        server = ContainerServer(way="least", more=["--userns", "host"])
        try:
            server.wait_until_ready()
            with server.sandbox.create() as session:
                self.assertEqual(session.code("print(6 * 7)").stdout, "42")
        finally:
            server.stop()
            server.clean_up()

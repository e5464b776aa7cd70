# SPDX-License-Identifier: Apache-2.0
"""The image with Docker where there is cgroup v2 only, AppArmor, and every capability: made for the guest of machine.py.

ROOKERY_TEST_LAYERS are the image's layers in the engine outside, separated by colons, ROOKERY_TEST_APPARMOR the compiled
container/apparmor/rookery."""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from harness import SOURCE, running, wait_for

sys.path.insert(0, str(SOURCE / "tests" / "container"))

import container_server  # noqa: E402
import engine  # noqa: E402
import process_tree  # noqa: E402
import ways  # noqa: E402

APPARMOR = pathlib.Path("/sys/kernel/security/apparmor")
ROOT = pathlib.Path("/sys/fs/cgroup")
SETTINGS = {"SANDBOX_RUNNER_MEMORY_MB": "300", "SANDBOX_RUNNER_PIDS": "40", "SANDBOX_POOL_SIZE": "1", "SANDBOX_PRELOAD": "json"}
WITHOUT_APPARMOR = [name for name in ways.SECURITY if not name.startswith("apparmor=")]


def run(security, *arguments, check=True):
    return engine.docker("run", "--rm", *ways.options(security=security), "--read-only", "--tmpfs", ways.TMPFS, container_server.IMAGE, *arguments, check=check)


def share_image(layers, data):
    """Gives an engine with this data directory the image that the one outside has. Files are read where they are: copying them takes
    minutes here."""
    outside = layers[0].parent
    data.mkdir(parents=True)
    # A shared mount: else the engine puts one over those in there.
    subprocess.run(["mount", "--make-shared", "-t", "tmpfs", "engine", data], check=True)
    shutil.copytree(outside.parent / "image", data / "image")
    (data / "overlay2" / "l").mkdir(parents=True)
    for layer in layers:
        own = data / "overlay2" / layer.name
        (own / "diff").mkdir(parents=True)
        for path in filter(pathlib.Path.is_file, layer.iterdir()):
            shutil.copy(path, own)
        name = (layer / "link").read_text()
        (data / "overlay2" / "l" / name).symlink_to("../%s/diff" % layer.name)
        subprocess.run(["mount", "--bind", layer / "diff", own / "diff"], check=True)


def load(variable, shown):
    """Loads the compiled AppArmor profile that an environment variable names."""
    (APPARMOR / ".replace").write_bytes(pathlib.Path(os.environ[variable]).read_bytes())
    if shown not in (APPARMOR / "profiles").read_text():
        raise AssertionError("%s is not loaded" % shown)


class ImageTestCase(unittest.TestCase):
    """In an engine that has the image."""

    @classmethod
    def setUpClass(cls):
        # What a container writes cannot lie on the guest's root, which is an overlay itself.
        directory = pathlib.Path("/run/engine")
        share_image([pathlib.Path(name) for name in os.environ["ROOKERY_TEST_LAYERS"].split(":")], directory / "data")
        cls.enterClassContext(engine.Engine(directory))

    def works(self, way, jail="nested", more=(), label="unconfined"):
        with running(SETTINGS, way=way, more=more) as server:
            self.assertEqual(wait_for(lambda: server.sandbox.health().get("jail"), 5, "the warden's answer"), jail)
            self.assertEqual(process_tree.read("/proc/%d/attr/apparmor/current" % server.pid).strip(), label)
            for pid in server.tree():
                if process_tree.in_host_user_namespace(pid):
                    self.assertEqual(int(process_tree.status(pid)["CapPrm"], 16), 0, process_tree.title(pid))
            with server.sandbox.create() as session:
                session.bash("sleep 321 & true", 60)
                sleeper = next(pid for pid in server.tree() if "sleep 321" in process_tree.title(pid))
                cgroup, = process_tree.cgroup_directories(sleeper)
                self.assertEqual(int((cgroup / "memory.max").read_text()), 300 << 20)
                self.assertIn(ROOT / "docker", cgroup.parents)
                self.assertEqual(session.bash("cat /proc/self/cgroup", 60).stdout, "0::/\n")
                self.assertEqual(session.code("x = bytearray(1 << 30)", 60).field("limit"), "memory")
                self.assertEqual(session.bash("for i in $(seq 60); do sleep 5 & done; wait", 100).field("limit"), "pids")
            yield server


class Image(ImageTestCase):
    def test_this_is_the_machine_it_is_about(self):
        said = engine.docker("info", "--format", "{{.CgroupVersion}} {{.SecurityOptions}}")[1]
        self.assertRegex(said, r"^2 .*name=apparmor.*name=cgroupns")

    def test_least_with_a_cgroup_namespace_of_its_own(self):
        for server in self.works("least, cgroupns private"):
            # As Docker starts the health check: in a cgroup that has others below it.
            self.assertIn('"status":"ok"', engine.docker("exec", server.name, "curl", "-fsS", "http://127.0.0.1:8080/health")[1])

    def test_least_with_the_hosts_cgroup_namespace(self):
        list(self.works("least, cgroupns host"))

    def test_least_with_flat_jails(self):
        list(self.works("least, flat jails", "flat"))

    def test_with_sys_admin_it_unmasks_proc_itself(self):
        list(self.works("with SYS_ADMIN, /proc masked"))

    def test_privileged(self):
        self.assertTrue(container_server.can_be_privileged(), "with every capability, here")
        list(self.works("privileged"))

    def test_check_in_the_recommended_way(self):
        output = run(ways.SECURITY, "check")[1]
        self.assertRegex(output, r"(?m)^cgroups +ok +v2 ")
        self.assertIn("rookery can serve here", output)

    def test_dockers_own_apparmor_profile_is_refused_with_the_option_that_helps(self):
        status, output = run(WITHOUT_APPARMOR, check=False)
        self.assertEqual(status, 1, output)
        self.assertIn("--security-opt apparmor=unconfined", output)

    def test_our_apparmor_profile(self):
        load("ROOKERY_TEST_APPARMOR", "rookery (unconfined)\n")
        list(self.works("least", more=["--security-opt", "apparmor=rookery"], label="rookery (unconfined)"))

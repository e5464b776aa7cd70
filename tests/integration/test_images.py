# SPDX-License-Identifier: Apache-2.0
"""SANDBOX_IMAGES: root file systems with a Python of their own, here those of other Debian releases."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

import debian_tree
import process_tree
from harness import BINARY, ServerTestCase, free_port, plain_environment, running, wait_for


def other_debian(suite):
    if not (debian_tree.is_made(suite) or os.environ.get("ROOKERY_TEST_LONG")):
        raise unittest.SkipTest("a tree of Debian %s takes minutes to make: done with --long, and kept in %s" % (suite, debian_tree.PLACE))
    return debian_tree.debian_tree(suite)


def version(session):
    result = session.code("import sys; print('%d.%d' % sys.version_info[:2])", 60)
    assert result.status == 200 and result.return_code == 0, result
    return result.stdout


@unittest.skipUnless(os.geteuid() == 0, "rookery serve and debootstrap need root")
class Images(ServerTestCase):
    @classmethod
    def setUpClass(cls):
        cls.newer = other_debian("trixie")
        # Python 3.9, the oldest that the driver is made for, on a C library that is new enough for it.
        cls.older = debian_tree.copy_of(other_debian("bullseye"), "bullseye-with-newer-libc")
        for package in debian_tree.packages(cls.newer):
            if package.name.startswith("libc6_"):
                debian_tree.unpack(package, cls.older)
        (cls.older / "etc/rookery").mkdir()
        (cls.older / "etc/rookery/preload").write_text("json\ncolorsys, no_such_module\n")
        (cls.older / "data").mkdir()
        (cls.older / "data/table.csv").write_text("1,2\n")
        (cls.older / "etc/secret").write_text("secret")
        (cls.older / "etc/secret").chmod(0o600)
        cls.settings = {"SANDBOX_IMAGES": "newer=%s,py3.9:old=%s" % (cls.newer, cls.older), "SANDBOX_POOL_SIZE": "2"}
        super().setUpClass()

    @classmethod
    def tearDownClass(cls):
        super().tearDownClass()
        shutil.rmtree(cls.older)

    def test_the_name_chooses_the_python_and_the_handle_tells_it(self):
        own = version(self.new_session())
        for wanted, image, python in (("newer", "newer", "3.13"), ("py3.9:old", "py3.9:old", "3.9"), ("default", "default", own),
                                      ("unknown", "default", own), ("", "default", own), ("../newer", "default", own), ("NEWER", "default", own),
                                      ("newer" + "x" * 500, "default", own), (None, "default", own), (["newer"], "default", own)):
            session = self.new_session(image=wanted)
            self.assertEqual((session.handle["image"], version(session)), (image, python), wanted)
            self.assertEqual(session.info().json()["image"], image)

    def test_sessions_of_every_image_at_once(self):
        names = ["newer", "py3.9:old", "default"] * 8
        with concurrent.futures.ThreadPoolExecutor(6) as pool:
            sessions = list(pool.map(lambda name: self.new_session(image=name), names))
            versions = list(pool.map(version, sessions))
        self.assertEqual([session.handle["image"] for session in sessions], names)
        for name in set(names):
            self.assertEqual(len({v for n, v in zip(names, versions) if n == name}), 1)

    def test_everything_of_a_session_works_there(self):
        for image in ("newer", "py3.9:old"):
            session = self.new_session(image=image)
            self.prints("x = 6 * 7\nprint(x)", "42", session)
            self.assertIn("ZeroDivisionError", session.code("1 / 0").stderr)
            self.prints("import subprocess; print(subprocess.run(['bash', '-c', 'echo hi'], capture_output=True, text=True).stdout)", "hi\n", session)
            self.assertEqual(self.shell("cat /etc/os-release | grep VERSION_CODENAME; id -un; pwd; echo $HOME", session).split()[1:],
                             ["sandbox", "/workspace", "/workspace"])
            self.assertEqual(session.put(b"1\n2\n", "f").status, 201)
            self.prints("print(open('f').read().split())", "['1', '2']", session)
            self.assertEqual(session.edit("view", "f").return_code, 0)
            slow = session.code("import time; time.sleep(60)", 1)
            self.assertEqual((slow.return_code, slow.field("timed_out")), (-1, True))
            self.prints("print(x)", "42", session)
            self.assertTrue(session.code("import os; os._exit(3)").field("interpreter_restarted"))
            self.assertEqual(version(session), {"newer": "3.13"}.get(image, "3.9"))

    def test_a_restarted_jail_has_the_same_image(self):
        session = self.new_session(image="newer")
        session.put(b"kept", "f")
        init = next(pid for pid in self.server.tree() if process_tree.title(pid).startswith("rookery: init") and
                    os.path.exists("/proc/%d/root/usr/bin/python3.13" % pid) and self.is_jail_of(pid, session))
        os.kill(init, 9)
        wait_for(lambda: session.code("print(open('f').read())").stdout == "kept", 20, "another jail")
        self.assertEqual(version(session), "3.13")

    def is_jail_of(self, pid, session):
        return os.path.exists("/proc/%d/root/var/sandbox/sessions/%s" % (pid, session.id))

    def test_each_image_has_its_zygote_with_its_own_modules(self):
        zygotes = [pid for pid in self.server.tree() if process_tree.title(pid) == "rookery: zygote"]
        if self.settings.get("SANDBOX_SPAWN", os.environ.get("ROOKERY_TEST_SPAWN")) == "exec":
            self.assertEqual(zygotes, [])
            return
        self.assertEqual(len(zygotes), 3)
        session = self.new_session(image="py3.9:old")
        for image, own, usual in (("py3.9:old", True, False), ("newer", False, True)):
            self.prints("import sys; print('colorsys' in sys.modules, 'statistics' in sys.modules)", "%s %s" % (own, usual),
                        self.new_session(image=image))

    def test_the_whole_tree_is_there_and_nothing_else_of_the_machine(self):
        session = self.new_session(image="py3.9:old")
        self.assertEqual(self.shell("cat /data/table.csv", session), "1,2\n")
        self.assertEqual(self.shell("test -d /var/lib/dpkg && echo yes", session), "yes\n")
        for path in ("/sys", "/boot", "/etc/shadow", "/etc/secret", str(self.older), str(self.server.root), "/work"):
            self.prints("import os; print(os.path.exists(%r))" % path, "False", session)
        self.assertEqual(self.shell("cat /etc/hostname; ls /dev", session).split(),
                         ["sandbox", "fd", "full", "null", "ptmx", "pts", "random", "shm", "stderr", "stdin", "stdout", "urandom", "zero"])

    def test_it_is_as_read_only_and_powerless_as_the_machines(self):
        for image in ("newer", "py3.9:old"):
            session = self.new_session(image=image)
            for line in session.code("print(open('/proc/self/mountinfo').read())").stdout.strip().splitlines():
                left, _, right = line.partition(" - ")
                place, options, kind = left.split()[4], left.split()[5].split(","), right.split()[0]
                self.assertIn("nosuid", options, line)
                if place.startswith("/dev/") and place != "/dev/shm":
                    continue  # one bind mount a device, and the pseudo terminals
                self.assertTrue("nodev" in options or left.split()[3] == "/null", line)
                self.assertTrue("ro" in options or place.startswith(("/workspace", "/tmp", "/dev/shm", "/proc", "/var/sandbox")), line)
                self.assertNotIn(kind, ("cgroup", "cgroup2", "sysfs"))
            failed = session.bash("for d in / /etc /usr /usr/lib /var /var/lib /opt /data /home; do [ -d $d ] && touch $d/x 2>/dev/null && echo $d; done; true")
            self.assertEqual((failed.return_code, failed.stdout), (0, ""))
            self.prints("import os; print(os.getresuid(), sorted(os.listdir('/opt/rookery')) != [])", "(1000, 1000, 1000) True", session)

    def test_readiness_counts_the_jails_of_all_images(self):
        wait_for(lambda: self.sandbox.health()["ready_sessions"] == 6, 30, "two jails an image")


@unittest.skipUnless(os.geteuid() == 0, "rookery serve and debootstrap need root")
class OtherWays(unittest.TestCase):
    def test_exec_mode_and_flat_jails(self):
        tree = other_debian("trixie")
        with running({"SANDBOX_IMAGES": "t=%s" % tree, "SANDBOX_POOL_SIZE": "1", "SANDBOX_SPAWN": "exec", "SANDBOX_JAIL_USERNS": "flat"}) as server:
            with server.sandbox.create(image="t") as session:
                self.assertEqual(version(session), "3.13")
                self.assertEqual(session.bash("id -un; touch ~/f /tmp/f && echo ok").stdout, "sandbox\nok\n")


@unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
class Refused(unittest.TestCase):
    """What cannot be an image ends the start with a sentence that says what to do."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="rookery-image-")
        self.addCleanup(scratch.cleanup)
        self.place = pathlib.Path(scratch.name)
        self.place.chmod(0o755)

    def tree(self, *files):
        tree = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        tree.chmod(0o755)
        for file in files:
            (tree / file).parent.mkdir(parents=True, exist_ok=True)
            (tree / file).write_text("#!/bin/sh\n")
            (tree / file).chmod(0o755)
        return tree

    def refused(self, images, *words, status=1):
        environment = plain_environment({"SANDBOX_SESSIONS_ROOT": str(self.place / "sessions"), "SANDBOX_IMAGES": images})
        done = subprocess.run([BINARY, "serve", "--listen", "127.0.0.1:%d" % free_port()], env=environment, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr

    def test_settings_that_name_no_images(self):
        for value in ("x", "x=", "x=relative", "=/x", "default=/x", "a/b=/x", ".a=/x", "a=/x,a=/y", "a=/x,,b=/y", "a" * 64 + "=/x",
                      ",".join("i%d=/x" % i for i in range(17))):
            self.refused(value, "SANDBOX_IMAGES", "NAME=/ROOT", status=2)

    def test_trees_that_cannot_be_used(self):
        self.refused("a=%s/none" % self.place, "SANDBOX_IMAGES", "a cannot be used", "No such file")
        self.refused("a=%s" % self.tree("usr/bin/python3"), "/bin/bash", "install bash")
        self.refused("a=%s" % self.tree("bin/bash", "usr/bin/x"), "python3", "install it")
        tree = self.tree("bin/bash", "usr/bin/python3")
        (tree / "usr/bin/python3").chmod(0o700)
        self.refused("a=%s" % tree, "python3", "everybody may execute")

    def test_a_tree_in_a_closed_directory(self):
        tree = self.tree("bin/bash", "usr/bin/python3")
        tree.chmod(0o700)
        self.refused("a=%s" % tree, "Permission denied", "everybody")

    def test_a_link_where_a_jail_needs_a_directory(self):
        tree = self.tree("bin/bash", "usr/bin/python3", "elsewhere/f")
        os.symlink("/elsewhere", tree / "var")
        self.refused("a=%s" % tree, "/var has to be a directory")

    def test_links_of_a_tree_lead_nowhere_on_the_machine(self):
        tree = self.tree("bin/bash", "usr/bin/x")
        os.symlink("/bin/sh", tree / "usr/bin/python3")  # the machine's, not the tree's
        self.refused("a=%s" % tree, "python3", "install it")

    def test_an_etc_of_unusual_size(self):
        tree = self.tree("bin/bash", "usr/bin/python3", "etc/f")
        with open(tree / "etc/large", "wb") as large:
            large.truncate(40 << 20)
        self.refused("a=%s" % tree, "32 MiB", "move large files")

    def test_an_interpreter_that_does_not_start(self):
        self.refused("broken=%s" % self.tree("bin/bash", "usr/bin/python3"), "no jail can be built here: image broken:")

    def test_a_c_library_that_is_too_old(self):
        said = self.refused("old=%s" % other_debian("bullseye"), "image old:")
        self.assertIn("GLIBC", said)


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: Apache-2.0
"""The jail as its inhabitants see it, one promise a test. tests/escape attacks it."""

import os
import socket

import process_tree
from harness import SLOWNESS, ServerTestCase, free_port, wait_for


class Inside(ServerTestCase):
    def value(self, source):
        result = self.session.code(source, 20)
        self.assertEqual((result.return_code, result.stderr), (0, ""), result)
        return result.stdout

    @property
    def form(self):
        """"nested" or "flat", which has to be what this machine was meant to give."""
        form = wait_for(lambda: self.sandbox.health().get("jail"), 5, "the warden's answer")
        self.assertEqual(form, os.environ.get("ROOKERY_TEST_JAIL", "nested"))
        return form

    def test_identity_is_one_unprivileged_user(self):
        identity = self.value("import os; print(os.getresuid(), os.getresgid(), [g for g in os.getgroups() if g != os.getgid()])")
        uid = "1000" if self.form == "nested" else self.shell("id -u sandbox").strip()
        self.assertGreaterEqual(int(uid), 1000)
        self.assertEqual(identity, "({0}, {0}, {0}) ({0}, {0}, {0}) []".format(uid))
        self.assertEqual(self.shell("id -un; echo ~; whoami"), "sandbox\n/workspace\nsandbox\n")

    def test_capabilities_no_new_privs_and_filter_on_every_process(self):
        self.shell("sleep 50 &")
        lines = self.value("import glob\nfor f in glob.glob('/proc/[0-9]*/status'):\n    d = dict(l.split(':\\t') for l in open(f).read().splitlines() if ':\\t' in l)\n"
                           "    print(d['NoNewPrivs'], d['Seccomp'], *(int(d[c], 16) for c in ('CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb')))")
        self.assertEqual(set(lines.splitlines()), {"1 2 0 0 0 0 0"})

    def test_namespaces_are_not_the_servers(self):
        server = self.server.role("server")
        for kind in ("user", "mnt", "pid", "net", "ipc", "uts", "cgroup"):
            inside = self.value("import os; print(os.readlink('/proc/self/ns/%s'))" % kind)
            self.assertNotEqual(inside, process_tree.namespace("self", kind))
            if kind != "user" or self.form == "nested":
                self.assertNotEqual(inside, process_tree.namespace(server, kind))

    def test_only_own_processes_are_visible_and_init_is_first(self):
        other = self.new_session()
        other.bash("sleep 1234 &")
        self.assertNotIn("1234", self.shell("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"))
        self.assertLess(int(self.shell("ls -d /proc/[0-9]* | wc -l")), 10)

    def test_writable_places_are_the_sessions_own(self):
        found = self.shell("find / -xdev -writable -type d 2>/dev/null | grep -v '^/proc' ; find /dev -writable -type d 2>/dev/null; true").split()
        for place in found:
            self.assertTrue(place.startswith(("/workspace", "/tmp", "/dev/shm", "/var/sandbox/sessions", "/var/tmp")), found)
        self.assertEqual(self.shell("for d in /workspace /tmp /dev/shm; do touch $d/x && echo ok; done"), "ok\nok\nok\n")

    def test_mounts_outside_them_are_read_only_nosuid_and_nodev(self):
        for line in self.value("print(open('/proc/self/mountinfo').read())").splitlines():
            left, _, right = line.partition(" - ")
            place, options, kind = left.split()[4], left.split()[5].split(","), right.split()[0]
            self.assertIn("nosuid", options, line)
            if place.startswith("/dev/") and place not in ("/dev/shm", "/dev/pts"):
                continue  # one bind mount a device
            self.assertTrue("ro" in options or place.startswith(("/workspace", "/tmp", "/dev/shm", "/dev/pts", "/proc", "/var/sandbox")), line)
            self.assertTrue("nodev" in options or place in ("/dev", "/dev/pts") or left.split()[3] == "/null", line)
            self.assertNotIn(kind, ("cgroup", "cgroup2", "sysfs", "debugfs", "tracefs", "securityfs"))

    def test_the_hosts_files_are_not_there(self):
        for path in ("/root", "/home", "/etc/shadow", "/etc/ssh", "/boot", "/srv", "/mnt", "/media", "/run", "/var/lib", "/var/log", "/sys",
                     str(self.server.root), str(self.server.scratch), "/work"):
            self.assertEqual(self.value("import os; p = %r; print(os.path.exists(p) and bool(os.listdir(p) if os.path.isdir(p) else 1))" % path),
                             "False", path)

    def test_etc_is_synthetic_and_small(self):
        self.assertEqual(self.shell("cut -d: -f1 /etc/passwd | sort | tr '\\n' ' '").split()[-1], "sandbox")
        self.assertLess(int(self.shell("wc -l < /etc/passwd")), 6)
        self.assertIn("localhost", self.shell("cat /etc/hosts"))

    def test_devices_are_the_harmless_ones(self):
        allowed = {"null", "zero", "full", "random", "urandom", "tty", "ptmx"}
        nodes = set(self.value("import os, stat\nfor top, _, files in os.walk('/dev'):\n    for f in files:\n        mode = os.lstat(os.path.join(top, f)).st_mode\n"
                               "        if stat.S_ISCHR(mode) or stat.S_ISBLK(mode): print(f)").split())
        self.assertLessEqual(nodes, allowed)
        self.assertLessEqual({"null", "zero", "full", "random", "urandom"}, nodes)
        self.assertEqual(self.shell("head -c 4 /dev/urandom | wc -c; echo x > /dev/null; ls /dev/fd/ >/dev/null && echo fd"), "4\nfd\n")

    def test_network_is_a_loopback_that_works_and_nothing_else(self):
        self.assertEqual(self.value("import socket; print([l.split(':')[0].strip() for l in open('/proc/net/dev') if ':' in l])"), "['lo']")
        self.assertEqual(self.value("a = socket.create_server(('127.0.0.1', 0)); b = socket.create_connection(a.getsockname()); c, _ = a.accept()\n"
                                    "b.send(b'hi'); print(c.recv(2))"), "b'hi'")
        result = self.session.code("socket.create_connection(('192.0.2.1', 80), 3)", 10)
        self.assertIn("unreachable", result.stderr)
        self.assertLess(result.wall, 2 * SLOWNESS)

    def test_names_fail_to_resolve_fast(self):
        result = self.session.code("import socket; socket.getaddrinfo('example.com', 80)", 10)
        self.assertIn("gaierror", result.stderr)
        self.assertLess(result.wall, 2 * SLOWNESS)
        self.assertEqual(self.value("print(socket.gethostbyname('localhost'))"), "127.0.0.1")

    def test_the_servers_port_and_the_hosts_sockets_are_out_of_reach(self):
        port = self.server.port
        self.assertEqual(self.value("import socket; print(socket.socket().connect_ex(('127.0.0.1', %d)))" % port), "111")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind("\0rookery-test-%d" % os.getpid())
            listener.listen()
            self.assertEqual(self.value("s = socket.socket(socket.AF_UNIX); print(s.connect_ex('\\0rookery-test-%d'))" % os.getpid()), "111")

    def test_socket_families_are_three(self):
        opened = self.value("import socket\nfound = []\nfor f in range(0, 46):\n    try: socket.socket(f, socket.SOCK_STREAM).close(); found.append(f)\n"
                            "    except OSError: pass\nprint(found)")
        self.assertEqual(opened, "[1, 2, 10]")

    def test_environment_is_built_from_nothing(self):
        names = set(self.value("import os; print(' '.join(sorted(os.environ)))").split())
        self.assertLessEqual({"PATH", "HOME", "LANG"}, names)
        for name in names:
            self.assertNotRegex(name, "^(SANDBOX_|ROOKERY|TELEMETRY|LOG_|SUDO|SSH|AWS|LD_)")
        self.assertEqual(self.value("print(os.environ['HOME'], os.environ['LANG'], os.environ['MPLBACKEND'])"), "/workspace C.UTF-8 Agg")

    def test_no_descriptor_of_the_server_is_inherited(self):
        links = self.shell("for f in /proc/self/fd/*; do readlink $f; done; true").split("\n")
        self.assertEqual([l for l in links if l and not l.startswith(("pipe:", "/dev/null", "/proc/"))], [])
        count = int(self.value("import os; print(len(os.listdir('/proc/self/fd')))"))
        self.assertLess(count, 9)

    def test_limits_cannot_be_raised(self):
        self.assertEqual(self.value("import resource as r\nprint(r.getrlimit(r.RLIMIT_CORE)[1], r.getrlimit(r.RLIMIT_NOFILE)[1])"), "0 256")
        for name in ("NOFILE", "FSIZE", "CORE", "MEMLOCK", "NPROC"):
            result = self.session.code("import resource as r\nk = r.RLIMIT_%s\nh = r.getrlimit(k)[1]\nif h == r.RLIM_INFINITY: raise SystemExit(5)\nr.setrlimit(k, (h, h + 1))" % name)
            self.assertNotEqual(result.return_code, 0, name)

    def test_other_sessions_files_and_memory_segments_are_invisible(self):
        other = self.new_session()
        other.bash("echo 1 > secret; echo 1 > /tmp/secret; echo 1 > /dev/shm/secret")
        other.code("import socket; s = socket.socket(socket.AF_UNIX); s.bind('\\0hidden'); s.listen()\n"
                   "import ctypes; c = ctypes.CDLL(None); print(c.shmget(4711, 4096, 0o1666), c.semget(4711, 1, 0o1666))")
        self.assertEqual(self.shell("ls -A /workspace; ls /tmp/secret; ls -A /dev/shm; true"), "")
        self.assertEqual(self.value("import ctypes; c = ctypes.CDLL(None); print(c.shmget(4711, 4096, 0), c.semget(4711, 1, 0))"), "-1 -1")
        self.assertEqual(self.value("import socket; print(socket.socket(socket.AF_UNIX).connect_ex('\\0hidden'))"), "111")
        self.assertEqual(self.shell("ls -d /var/sandbox/sessions/* | wc -l"), "1\n")

    def test_cgroups_and_the_kernels_lists_hide_the_host(self):
        for line in self.value("print(open('/proc/self/cgroup').read())").split():
            self.assertTrue(line.endswith(":/"), line)
        for path in ("/proc/kcore", "/proc/keys", "/proc/timer_list", "/proc/sysrq-trigger", "/proc/kmsg"):
            self.assertEqual(self.value("try: print(len(open(%r, 'rb').read(4)))\nexcept OSError: print(0)" % path), "0", path)

    def test_kernel_settings_are_read_only(self):
        writable = self.value("import os\nfound = []\nfor top, dirs, files in os.walk('/proc/sys'):\n    for f in files:\n        p = os.path.join(top, f)\n"
                              "        try: os.close(os.open(p, os.O_WRONLY)); found.append(p)\n        except OSError: pass\nprint(found)")
        self.assertEqual(writable, "[]")

    def test_host_name_is_not_the_hosts(self):
        self.assertNotEqual(self.value("import os; print(os.uname().nodename)"), os.uname().nodename)

    def test_init_cannot_be_signalled_traced_or_read(self):
        self.assertEqual(self.value("import os\nfound = []\nfor n in range(1, 65):\n    if n in (32, 33): continue\n    try: os.kill(1, n)\n    except OSError: pass\nprint('alive')"), "alive")
        for name in ("mem", "environ", "maps", "fd", "root", "cwd", "exe"):
            result = self.session.code("import os\np = '/proc/1/%s'\nos.listdir(p) if os.path.isdir(p) else open(p, 'rb').read(1)" % name)
            self.assertEqual(result.return_code, 1, name)
        self.assert_alive()


class InsideExec(Inside):
    """The same promises for an interpreter that was started, not forked."""

    settings = {"SANDBOX_SPAWN": "exec"}

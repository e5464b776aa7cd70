# SPDX-License-Identifier: Apache-2.0
import os

import process_tree
from harness import ServerTestCase, wait_for


class Credentials(ServerTestCase):
    """Who runs as what, as the host sees it."""

    def setUp(self):
        self.session.code("import subprocess; p = subprocess.Popen(['sleep', '60'])")
        self.session.bash("sleep 61 &")
        self.tree = self.server.tree()

    def test_the_roles_are_there_and_say_so(self):
        titles = [process_tree.title(pid) for pid in self.tree]
        for role in ("rookery: warden", "rookery: server"):
            self.assertIn(role, titles)

    def test_no_process_holds_a_capability_in_the_hosts_user_namespace(self):
        for pid in self.tree:
            fields = process_tree.status(pid)
            if process_tree.in_host_user_namespace(pid):
                for kind in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
                    self.assertEqual(int(fields[kind], 16), 0, (process_tree.title(pid), kind, fields[kind]))

    def test_no_process_runs_as_the_hosts_root(self):
        for pid in self.tree:
            fields = process_tree.status(pid)
            # The fourth is the file system's: the first process keeps it to remove its cgroups at the end.
            self.assertNotIn("0", fields["Uid"].split()[:3], process_tree.title(pid))
            self.assertNotIn("0", fields["Gid"].split()[:3], process_tree.title(pid))
            self.assertEqual(fields["Groups"].split(), [], process_tree.title(pid))

    def test_no_user_namespace_maps_the_hosts_root_or_an_ordinary_user(self):
        for pid in self.tree:
            if not process_tree.in_host_user_namespace(pid):
                for _, outside, count in process_tree.uid_map(pid):
                    self.assertGreaterEqual(outside, 65536, (process_tree.title(pid), process_tree.uid_map(pid)))
                    self.assertLess(outside + count, 2**32)

    def test_the_server_keeps_three_capabilities_at_most(self):
        allowed = 1 << 0 | 1 << 1 | 1 << 3  # CHOWN, DAC_OVERRIDE, FOWNER
        fields = process_tree.status(self.server.role("server"))
        for kind in ("CapPrm", "CapEff", "CapBnd"):
            self.assertEqual(int(fields[kind], 16) & ~allowed, 0, (kind, fields[kind]))
        self.assertEqual((fields["NoNewPrivs"], fields["Seccomp"]), ("1", "2"))

    def test_the_server_sees_no_file_of_the_machine_and_no_other_process(self):
        root = "/proc/%d/root" % self.server.role("server")
        self.assertEqual(os.listdir(root), ["proc"])
        self.assertEqual([name for name in os.listdir(root + "/proc") if name.isdigit()], ["1"])

    def test_the_zygote_keeps_six_capabilities_at_most(self):
        allowed = 1 << 6 | 1 << 7 | 1 << 8 | 1 << 18 | 1 << 19 | 1 << 21  # SETGID, SETUID, SETPCAP, SYS_CHROOT, SYS_PTRACE, SYS_ADMIN
        fields = process_tree.status(wait_for(lambda: self.server.role("zygote"), 30, "a zygote"))
        for kind in ("CapPrm", "CapEff", "CapBnd"):
            self.assertEqual(int(fields[kind], 16) & ~allowed, 0, (kind, fields[kind]))

    def test_the_servers_own_memory_is_bounded_and_it_leaves_no_core(self):
        with open("/proc/%d/limits" % self.server.role("server")) as file:
            limits = {line[:25].strip(): line[25:].split()[:2] for line in file}
        self.assertEqual(limits["Max core file size"], ["0", "0"])
        soft, hard = limits["Max data size"]
        self.assertEqual(soft, hard)
        self.assertLess(int(soft), 1 << 46)  # "unlimited" is no number; a sanitizer maps terabytes

    def test_every_process_is_filtered_and_cannot_gain_privileges(self):
        for pid in self.tree:
            fields = process_tree.status(pid)
            self.assertEqual((fields["NoNewPrivs"], fields["Seccomp"]), ("1", "2"), process_tree.title(pid))

    def test_everything_of_a_jail_has_no_capability_and_a_uid_of_its_own(self):
        other = self.new_session()
        other.code("1")
        rookery, everything = {self.server.pid, self.server.role("server"), self.server.role("zygote")}, set(self.server.tree())
        # A jail that is just being made is a copy of the warden until it has dropped everything.
        rookery |= {pid for pid in everything if process_tree.title(pid) in ("rookery: warden", "")}
        uids = {}
        for pid in everything - rookery:
            fields = process_tree.status(pid)
            if process_tree.title(pid).startswith("rookery: zygote"):
                continue  # on its way into a jail
            for kind in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"):
                self.assertEqual(int(fields[kind], 16), 0, (process_tree.title(pid), kind))
            uids.setdefault(process_tree.namespace(pid, "pid"), set()).update(fields["Uid"].split())
        self.assertGreater(len(uids), 1)
        for seen in uids.values():
            self.assertEqual(len(seen), 1)
        self.assertEqual(len(set.union(*uids.values())), len(uids), "two jails share a uid")

    def test_jails_share_no_namespace_with_the_host_or_each_other(self):
        warden = self.server.role("warden")
        jails = {}
        for pid in self.tree:
            outside = (process_tree.namespace("self", "pid"), process_tree.namespace(warden, "pid"))
            if process_tree.namespace(pid, "pid") not in outside and not process_tree.title(pid).startswith("rookery"):
                jails.setdefault(process_tree.namespace(pid, "pid"), []).append(pid)
        self.assertGreater(len(jails), 0)
        for kind in ("mnt", "net", "ipc", "uts", "cgroup", "user"):
            seen = [{process_tree.namespace(pid, kind) for pid in pids} for pids in jails.values()]
            self.assertTrue(all(len(names) == 1 for names in seen), kind)
            names = [names.pop() for names in seen]
            self.assertEqual(len(set(names)), len(names), "shared %s namespace" % kind)
            self.assertNotIn(process_tree.namespace("self", kind), names)

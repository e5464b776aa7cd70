# SPDX-License-Identifier: Apache-2.0
"""What the documents, the compose file and the manifests say is what the tests run."""

import json
import re
import unittest

import ways
import yaml

CONTAINER = ways.SOURCE / "container"
MANIFESTS = CONTAINER / "kubernetes" / "rookery.yaml"


def without_path(options):
    return [re.sub(r"seccomp=.*docker-seccomp.json.*", "seccomp=docker-seccomp.json", text) for text in options]


class Documents(unittest.TestCase):
    def test_the_readme_shows_the_least_privileges(self):
        text = (ways.SOURCE / "README.md").read_text()
        command = re.search(r"docker run --rm -p .*?rookery:dev\n", text, re.S)[0].replace("\\\n", " ").split()
        said = [command[i + 1] for i, word in enumerate(command) if word == "--cap-add"]
        self.assertEqual(said, ways.CAPABILITIES)
        self.assertEqual([command[i + 1] for i, word in enumerate(command) if word == "--cap-drop"], ["ALL"])
        self.assertEqual(sorted(command[i + 1] for i, word in enumerate(command) if word == "--security-opt"), sorted(ways.SECURITY))
        self.assertIn("--read-only", command)
        self.assertEqual(command[command.index("--tmpfs") + 1], ways.TMPFS)

    def test_the_compose_file_is_the_same_run(self):
        services = yaml.safe_load((CONTAINER / "compose.yaml").read_text())["services"]
        service = services["rookery"]
        self.assertEqual((service["cap_drop"], service["cap_add"]), (["ALL"], ways.CAPABILITIES))
        self.assertEqual(sorted(without_path(service["security_opt"])), sorted(without_path(ways.SECURITY)))
        self.assertEqual((service["read_only"], service["tmpfs"]), (True, [ways.TMPFS]))
        self.assertTrue(all(port.startswith("127.0.0.1:") for port in service["ports"]), service["ports"])
        self.assertEqual(services["otari"]["environment"]["OTARI_SANDBOX_URL"], "http://rookery:8080")

    def test_the_stateful_set_adds_sys_admin_to_it_and_nothing_else(self):
        documents = list(yaml.safe_load_all(MANIFESTS.read_text()))
        pod = next(document for document in documents if document["kind"] == "StatefulSet")["spec"]["template"]["spec"]
        security = pod["containers"][0]["securityContext"]
        self.assertEqual(security["capabilities"], {"drop": ["ALL"], "add": ways.CAPABILITIES + ["SYS_ADMIN"]})
        self.assertTrue(security["readOnlyRootFilesystem"])
        self.assertNotIn("privileged", security)

    def test_the_profile_allows_what_each_role_may_call(self):
        profile = json.loads(ways.PROFILE.read_text())
        self.assertEqual(profile["defaultAction"], "SCMP_ACT_ERRNO")
        allowed = {name for rule in profile["syscalls"] for name in rule["names"] if rule["action"] == "SCMP_ACT_ALLOW"}
        for path in (ways.SOURCE / "policy" / "seccomp").glob("*.json"):
            for rule in json.loads(path.read_text())["syscalls"]:
                if rule["action"] == "SCMP_ACT_ALLOW":
                    self.assertEqual(set(rule["names"]) - allowed, set(), path.name)

    def test_the_profile_refuses_what_no_role_needs(self):
        profile = json.loads(ways.PROFILE.read_text())
        allowed = {name for rule in profile["syscalls"] for name in rule["names"]}
        for name in ("bpf", "init_module", "finit_module", "kexec_load", "ptrace", "keyctl", "add_key", "perf_event_open", "io_uring_setup",
                     "userfaultfd", "open_by_handle_at", "reboot", "swapon", "process_vm_readv", "process_vm_writev", "iopl"):
            self.assertNotIn(name, allowed)

    def test_every_package_of_the_list_is_pinned_with_hashes(self):
        wanted = re.findall(r"(?m)^([a-z0-9-]+)==([0-9.]+)\*$", (CONTAINER / "requirements.in").read_text())
        pinned = dict(re.findall(r"(?m)^([a-z0-9-]+)==([^ \\;]+)", (CONTAINER / "requirements.txt").read_text()))
        self.assertEqual(len(wanted), 19)
        for name, version in wanted:
            self.assertTrue(pinned[name].startswith(version.rstrip(".")), (name, pinned[name]))
        for block in re.split(r"(?m)^(?=[a-z0-9])", (CONTAINER / "requirements.txt").read_text()):
            if "==" in block:
                self.assertIn("--hash=sha256:", block)

# SPDX-License-Identifier: Apache-2.0
"""The documented ways to run the image: arguments of `docker run`. test_documents.py holds the documents against them."""

import pathlib

SOURCE = pathlib.Path(__file__).resolve().parents[2]
PROFILE = SOURCE / "container" / "docker-seccomp.json"

CAPABILITIES = ["CHOWN", "SETUID", "SETGID", "SETPCAP"]
SECURITY = ["no-new-privileges", "systempaths=unconfined", "seccomp=container/docker-seccomp.json", "apparmor=unconfined"]
TMPFS = "/var/sandbox"


def options(capabilities=CAPABILITIES, security=SECURITY):
    found = ["--cap-drop", "ALL"]
    for name in capabilities:
        found += ["--cap-add", name]
    for name in security:
        found += ["--security-opt", name.replace("container/docker-seccomp.json", str(PROFILE))]
    return found


LEAST = options() + ["--read-only", "--tmpfs", TMPFS]
# Where an engine cannot grant CAP_SYS_RESOURCE (the machine itself lacks it), this is the nearest to it.
PRIVILEGED = ["--privileged"]
NEARLY_PRIVILEGED = ["--cap-add", "ALL", "--cap-drop", "SYS_RESOURCE", "--security-opt", "seccomp=unconfined",
                     "--security-opt", "systempaths=unconfined", "--security-opt", "apparmor=unconfined"]

WAYS = {
    "least": LEAST,
    "least, cgroupns host": LEAST + ["--cgroupns", "host"],
    "least, cgroupns private": LEAST + ["--cgroupns", "private"],
    "least, flat jails": LEAST + ["-e", "SANDBOX_JAIL_USERNS=flat"],
    "with SYS_ADMIN, /proc masked": options(CAPABILITIES + ["SYS_ADMIN"], [name for name in SECURITY if "systempaths" not in name]) +
                                    ["--read-only", "--tmpfs", TMPFS],
    "privileged": PRIVILEGED,
}

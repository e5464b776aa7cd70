# SPDX-License-Identifier: Apache-2.0
"""The jail, limits and escape tests on the stock kernels of Debian and Ubuntu with cgroup v2 only, in qemu; see tests/vm."""

import platform
import sys

from .tally import Tally, fail, skip

SLOWNESS = 20  # software emulation
BOOT_SECONDS = 400
MODULE_SECONDS = 600


class Boot:
    """One boot: what is different about the machine, and what runs there. `suite`: the release of Debian whose kernel it has, or "ubuntu"."""

    def __init__(self, name, modules, sysctl=(), parameters="", settings=(), landlock=True, suite="", seconds=None, systemd=False):
        self.name, self.modules, self.parameters, self.landlock = name, modules, parameters, landlock
        self.suite, self.seconds = suite, seconds or BOOT_SECONDS * len(modules)
        self.systemd = systemd
        self.sysctl, self.settings = dict(sysctl), dict(settings)


JAIL, LIMITS, ESCAPE = "integration/test_jail", "integration/test_limits", "escape/test_escape"
CONTAINER = "integration/test_least_privileges"
ROOT_ONLY = {"kernel/unprivileged_userns_clone": "0"}
RESTRICTED = {"kernel/apparmor_restrict_unprivileged_userns": "1"}
SHORT = [Boot("cgroup v2", [JAIL, LIMITS])]
LONG = [
    Boot("cgroup v2", [JAIL, LIMITS, ESCAPE, CONTAINER, "vm/test_cgroup2", "vm/test_user_namespaces", "vm/test_rootless"]),
    Boot("user namespaces for root only", [JAIL, LIMITS, ESCAPE], sysctl=ROOT_ONLY, settings={"ROOKERY_TEST_JAIL": "flat"}),
    Boot("without Landlock", [JAIL, LIMITS, ESCAPE], parameters="lsm=lockdown,yama,apparmor", landlock=False),
    Boot("Ubuntu, which restricts user namespaces", [JAIL, ESCAPE, "vm/test_restricted"], sysctl=RESTRICTED, suite="ubuntu"),
    Boot("systemd", ["vm/test_service"], systemd=True),
]


def wrong_machine(boot, facts):
    """What the guest is not, though the tests are only worth something if it is; "" if all is as it should be."""
    group = "0::/system.slice/rookery-guest.service\n" if boot.systemd else "0::/\n"
    if facts.get("cgroup") != group or not {"memory", "pids", "cpu"} <= set(facts["controllers"]):
        return "cgroup v2 only, with its controllers: %s" % facts
    if ("landlock" in facts["lsm"]) != boot.landlock:
        return "Landlock %s: %s" % ("on" if boot.landlock else "off", facts["lsm"])
    return ""


def run_boot(machine, cache, binary, boot, environment):
    job = {
        "modules": [module.split("/") for module in boot.modules], "sysctl": boot.sysctl, "module_seconds": MODULE_SECONDS * 4,
        "environment": {**{name: value for name, value in environment.items() if name.startswith("ROOKERY_TEST_")}, **boot.settings,
                        "ROOKERY_BINARY": str(binary), "ROOKERY_TEST_SLOWNESS": str(SLOWNESS)},
    }
    facts = None
    for _ in range(2):  # qemu's emulator may miss code that the kernel changes while it starts, which then panics: seen with Debian 13's
        if not facts:
            facts, tallies, problem = machine.boot(cache, job, boot.seconds, boot.parameters, boot.suite, boot.systemd)
    total = Tally()
    for line in tallies:
        tally = Tally(line["passed"], line["failed"], line["skipped"], ["(%s) %s" % (boot.name, reason) for reason in line["reasons"]])
        print("  %-28s %s (%.0f s)" % (line["name"], tally, line["seconds"]), flush=True)
        total += tally
    if not problem and len(tallies) != len(boot.modules):
        problem = "only %d of %d modules reported" % (len(tallies), len(boot.modules))
    problem = problem or wrong_machine(boot, facts)
    return total + fail("%s: %s" % (boot.name, problem)) if problem else total


def vm(source, build, long, environment):
    if platform.machine() != "x86_64":
        return skip("vm: boots x86-64 kernels only, this is " + platform.machine())
    sys.path.insert(0, str(source / "tests" / "vm"))
    import machine

    total = Tally()
    for boot in LONG if long else SHORT:
        print("  -- " + boot.name, flush=True)
        try:
            total += run_boot(machine, build / "vm", build / "rookery", boot, environment)
        except machine.Unavailable as reason:
            total += skip("vm: %s" % reason)
    return total

# SPDX-License-Identifier: Apache-2.0
"""Machines that see each other over a network and are namespaces: this process is one, each Node another.

Everything is gone with its processes; nothing of the host's network is touched or in reach."""

import ctypes
import subprocess

CLONE_NEWNET = 0x40000000


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        raise AssertionError("%s: %s" % (" ".join(command), done.stdout))


def enter_own_network():
    """Gives this thread, and what it starts from now on, a network namespace with nothing but loopback."""
    library = ctypes.CDLL(None, use_errno=True)
    if library.unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare the network namespace")
    run("ip", "link", "set", "lo", "up")


class Node:
    """A network namespace with one wire to this one: 198.18.NUMBER.2 there, .1 here (a range for tests, RFC 2544)."""

    def __init__(self, number):
        self.address = "198.18.%d.2" % number
        self.holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo; exec sleep infinity"], stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE)
        self.holder.stdout.readline()
        here = "wire%d" % number
        run("ip", "link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", str(self.holder.pid))
        run("ip", "addr", "add", "198.18.%d.1/24" % number, "dev", here)
        run("ip", "link", "set", here, "up")
        run(*self.enter, "ip", "addr", "add", self.address + "/24", "dev", "eth0")
        run(*self.enter, "ip", "link", "set", "eth0", "up")
        run(*self.enter, "ip", "link", "set", "lo", "up")

    @property
    def enter(self):
        return ("nsenter", "--net=/proc/%d/ns/net" % self.holder.pid)

    def close(self):
        self.holder.kill()
        self.holder.wait()
        self.holder.stdout.close()

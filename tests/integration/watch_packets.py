# SPDX-License-Identifier: Apache-2.0
"""Runs a server with the given settings (NAME=VALUE ...) in a network namespace of its own, uses it, and prints as JSON which
packets passed: between the test and the server, and others. All routes lead to loopback, so whatever is sent is seen."""

import ctypes
import fcntl
import json
import os
import socket
import struct
import subprocess
import sys
import threading
import time

CLONE_NEWNET = 0x40000000


def own_network():
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWNET) != 0:
        raise OSError(ctypes.get_errno(), "unshare")
    with socket.socket() as control:
        fcntl.ioctl(control, 0x8914, struct.pack("16sh22x", b"lo", 0x1 | 0x40))  # SIOCSIFFLAGS: IFF_UP, IFF_RUNNING
    subprocess.run(["ip", "route", "add", "default", "dev", "lo"], check=True)


class Watch:
    def __init__(self):
        self.seen, self.done = [], False
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))  # ETH_P_ALL
        self.socket.settimeout(0.2)
        self.thread = threading.Thread(target=self.run)
        self.thread.start()

    def run(self):
        while not self.done:
            try:
                frame = self.socket.recv(65536)
            except TimeoutError:
                continue
            kind, packet = frame[12:14], frame[14:]
            if kind != b"\x08\x00":
                self.seen.append("ethertype " + kind.hex())
                continue
            header = (packet[0] & 15) * 4
            ports = struct.unpack("!HH", packet[header:header + 4]) if packet[9] in (6, 17) else (0, 0)
            self.seen.append("%d %s:%d %s:%d" % (packet[9], socket.inet_ntoa(packet[12:16]), ports[0], socket.inet_ntoa(packet[16:20]), ports[1]))

    def stop(self):
        self.done = True
        self.thread.join()
        return self.seen


def main(settings):
    own_network()
    from harness import running

    watch = Watch()
    with running(dict(entry.split("=", 1) for entry in settings)) as server:
        with server.sandbox.create() as session:
            session.code("import socket\ntry: socket.create_connection(('10.1.2.3', 80), 1)\nexcept OSError: pass")
            session.bash("sleep 1; true")
            session.put(b"x", "x")
        exporter = server.role("exporter") is not None
        time.sleep(2)
        client = ":%d" % server.port
    seen = watch.stop()
    own = [packet for packet in seen if client + " " in packet or packet.endswith(client)]
    others = sorted({packet for packet in seen if packet not in own})
    print(json.dumps({"exporter": exporter, "to_clients": bool(own), "others": others}))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    os.chdir(os.path.dirname(os.path.abspath(__file__)))
    main(sys.argv[1:])

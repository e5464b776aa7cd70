# SPDX-License-Identifier: Apache-2.0
import socket
import struct
import threading
import time

import process_tree
from harness import wait_for
from hostile import HEADER_SECONDS, HostileTestCase


def reset(connection):
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


class Clients(HostileTestCase):
    """Clients that are slow, silent or gone."""

    def descriptors(self):
        return process_tree.descriptors(self.server_pid)

    def test_slow_and_silent_heads_run_into_the_deadline_together(self):
        before = self.descriptors()
        silent = [self.connect(60) for _ in range(150)]
        partial = [self.connect(60) for _ in range(50)]
        for connection in partial:
            connection.sendall(b"GET /health HTTP/1.1\r\n" + self.host[:-3])
        drip, stop = self.connect(60), threading.Event()

        def feed():
            try:
                while not stop.wait(0.5):
                    drip.sendall(b"X-a: b\r\n")
            except OSError:
                pass

        drip.sendall(b"GET /health HTTP/1.1\r\n")
        feeder = threading.Thread(target=feed)
        feeder.start()
        start = time.monotonic()
        self.check_invariants()
        for connection in silent + partial + [drip]:
            connection.settimeout(max(0.1, HEADER_SECONDS + 20 - (time.monotonic() - start)))
            try:
                while connection.recv(4096):
                    pass
            except ConnectionResetError:
                pass
        self.assertLess(time.monotonic() - start, HEADER_SECONDS + 10)
        stop.set()
        feeder.join()
        for connection in silent + partial + [drip]:
            connection.close()
        wait_for(lambda: self.descriptors() <= before + 8, 10, "descriptors at their level")

    def test_connections_that_end_at_every_stage(self):
        before = self.descriptors()
        body = self.exec_body("1")
        request = self.exec_head(b"Content-Length: %d\r\n\r\n" % len(body)) + body
        for cut in list(range(0, len(request), 9)) + [len(request)]:
            for end in (reset, lambda connection: connection.close()):
                connection = self.connect()
                connection.sendall(request[:cut])
                end(connection)
        wait_for(lambda: self.descriptors() <= before + 8, 10, "descriptors at their level")

    def test_clients_that_leave_during_a_call(self):
        session = self.new_session()
        session.code("1")
        for number in range(30):
            body = self.exec_body("import time; time.sleep(0.1)")
            connection = self.connect()
            connection.sendall(b"POST %s/exec HTTP/1.1\r\n%sContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" %
                               (session.target.encode(), self.host, len(body)) + body)
            time.sleep(0.02)
            reset(connection)
        wait_for(lambda: session.code("print('mine')", 10).stdout == "mine", 20, "own answer")

    def test_a_download_that_nobody_reads_keeps_nobody(self):
        session = self.sandbox.create()
        session.code("open('big', 'wb').write(bytes(64 << 20))")
        readers = [self.connect(60) for _ in range(20)]
        for reader in readers:
            reader.sendall(b"GET %s/files?path=big HTTP/1.1\r\n%s\r\n" % (session.target.encode(), self.host))
        time.sleep(0.3)
        self.check_invariants()
        start = time.monotonic()
        self.assertEqual(session.delete().status, 204)
        self.assertLess(time.monotonic() - start, 5)
        for reader in readers:
            reset(reader)

    def test_a_slow_body_does_not_keep_others(self):
        connections = []
        for _ in range(60):
            connection = self.connect(60)
            connection.sendall(self.exec_head(b"Content-Length: 1000\r\n\r\n") + b"{")
            connections.append(connection)
        self.check_invariants()
        for connection in connections:
            connection.close()

    def test_a_body_that_drips_or_stalls_ends(self):
        """Without a byte for half a minute the body is given up, and its call is not run."""
        connections = []
        for head in (self.exec_head(b"Content-Length: 1000\r\n\r\n") + b"{", self.exec_head(b"Transfer-Encoding: chunked\r\n\r\n") + b"5\r\nab",
                     b"POST %s/files HTTP/1.1\r\n%sContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 1000\r\n\r\n--b\r\n" % (self.target.target.encode(), self.host)):
            connection = self.connect(60)
            connection.sendall(head)
            connections.append(connection)
        start = time.monotonic()
        for connection in connections:
            data = b""
            try:
                while part := connection.recv(4096):
                    data += part
            except ConnectionResetError:
                pass
            self.assertTrue(not data or data.startswith((b"HTTP/1.1 408", b"HTTP/1.1 400")), data[:100])
        self.assertLess(time.monotonic() - start, 45)
        self.assertEqual(self.target.names(), [])

    def test_uploads_and_downloads_that_break_off_leave_nothing(self):
        session = self.new_session()
        session.code("open('big', 'wb').write(bytes(8 << 20))")
        before, free = self.descriptors(), session.bash("df --output=used /workspace | tail -1").stdout
        head = b"POST %s/files HTTP/1.1\r\n%sContent-Type: multipart/form-data; boundary=b\r\nContent-Length: 10485760\r\n\r\n" % (session.target.encode(), self.host)
        part = b'--b\r\nContent-Disposition: form-data; name="file"; filename="cut"\r\n\r\n' + bytes(1 << 20)
        for number in range(40):
            connection = self.connect()
            connection.sendall(head + part[:(number * 27_001) % len(part)])
            (reset if number % 2 else lambda each: each.close())(connection)
            connection = self.connect()
            connection.sendall(b"GET %s/files?path=big HTTP/1.1\r\n%s\r\n" % (session.target.encode(), self.host))
            if number % 3:
                connection.recv(1000)
            reset(connection)
        wait_for(lambda: self.descriptors() <= before + 8, 10, "descriptors at their level")
        self.assertEqual(session.names(), ["big"])
        wait_for(lambda: session.bash("df --output=used /workspace | tail -1").stdout == free, 10, "the space of broken uploads")

    def test_a_thousand_connections_at_once(self):
        self.may_grow_mb = 96  # hundreds of threads have had an arena each
        connections = [self.connect() for _ in range(1000)]
        for connection in connections:
            connection.sendall(b"GET /health HTTP/1.1\r\n" + self.host + b"\r\n")
        answers = [connection.recv(4096)[:12] for connection in connections]
        # More at once than threads, when the machine is slow to serve them: that is told, and nobody is left without an answer.
        self.assertEqual(set(answers) - {b"HTTP/1.1 200", b"HTTP/1.1 503"}, set())
        self.assertGreater(answers.count(b"HTTP/1.1 200"), 500)
        self.check_invariants()
        for connection in connections:
            connection.close()

# SPDX-License-Identifier: Apache-2.0
"""What old versions of cpp-httplib leave without a bound: each is sent in excess, and the server's peak of memory is measured."""

import itertools
import time

import process_tree
from harness import SLOWNESS, wait_for
from hostile import HostileTestCase

EXCESS = 64 << 20  # bytes of everything that should end much earlier


def endless(piece):
    """`piece` again and again, EXCESS bytes in all, in parts of about a mebibyte."""
    part = piece * max(1, (1 << 20) // len(piece))
    return itertools.repeat(part, EXCESS // len(part))


class Bounds(HostileTestCase):
    settings = {"SANDBOX_POOL_SIZE": "2", "SANDBOX_MAX_UPLOAD_MB": "8", "SANDBOX_MAX_CONNECTIONS": "200", "SANDBOX_MAX_THREADS": "16"}

    def peak_kb(self):
        with open("/proc/%d/status" % self.server_pid) as file:
            return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))

    def bounded(self, *parts, megabytes, statuses, seconds=15):
        """Sends the parts, each bytes or an iterator of them; afterwards the peak of the server's memory has grown by less than this."""
        self.sandbox.health()
        with open("/proc/%d/clear_refs" % self.server_pid, "w") as file:
            file.write("5")  # proc(5): resets VmHWM
        before, start = self.peak_kb(), time.monotonic()
        stream = itertools.chain.from_iterable([part] if isinstance(part, bytes) else part for part in parts)
        answer = self.talk(*stream, seconds=2)
        self.assertLess(time.monotonic() - start, seconds * SLOWNESS)
        grown = (self.peak_kb() - before) / 1024
        self.assertLess(grown, megabytes * SLOWNESS, "MiB at the peak")
        self.assertTrue(answer.closed, "the connection stays open")
        if answer.responses:  # a client that still sends may lose the answer
            self.assertIn(answer.statuses[0], statuses)
        return grown

    def post(self, kind, extra=b"Transfer-Encoding: chunked\r\n", target=b"exec"):
        return b"POST %s/%s HTTP/1.1\r\n%sContent-Type: %s\r\n%s\r\n" % (self.target.target.encode(), target, self.host, kind, extra)

    JSON = b"application/json"
    FORM = b"multipart/form-data; boundary=b"

    def test_request_line(self):
        self.bounded(b"GET /", endless(b"A"), megabytes=8, statuses=(414, 431, 400))
        self.bounded(endless(b"A"), megabytes=8, statuses=(414, 431, 400))

    def test_length_of_a_field(self):
        self.bounded(b"GET /health HTTP/1.1\r\n" + self.host + b"X: ", endless(b"a"), megabytes=8, statuses=(431, 400))
        self.bounded(b"GET /health HTTP/1.1\r\n" + self.host, endless(b"a"), megabytes=8, statuses=(431, 400))

    def test_number_of_fields(self):
        self.bounded(b"GET /health HTTP/1.1\r\n" + self.host, endless(b"X-A: 1\r\n"), megabytes=8, statuses=(431, 400))

    def test_empty_lines_before_a_request(self):
        self.bounded(endless(b"\r\n"), megabytes=8, statuses=(400,))

    def test_size_of_a_json_body(self):
        chunk = b"100000\r\n" + b" " * (1 << 20) + b"\r\n"
        self.bounded(self.post(self.JSON), endless(chunk), megabytes=40, statuses=(413,))
        self.bounded(self.post(self.JSON, b"Content-Length: %d\r\n" % EXCESS), endless(b" "), megabytes=8, statuses=(413,))

    def test_size_of_a_form_body(self):
        self.bounded(self.post(b"application/x-www-form-urlencoded", b"Content-Length: %d\r\n" % EXCESS), endless(b"a=b&"), megabytes=8, statuses=(413, 415, 422))
        self.bounded(self.post(b"application/x-www-form-urlencoded"), endless(b"1000\r\n" + b"a=b&" * 1024 + b"\r\n"), megabytes=8, statuses=(413, 415, 422))

    def test_chunk_sizes_extensions_and_trailers(self):
        for start, piece in ((b"", b"0"), (b"5", b";x=y"), (b"", b"1;x=yyyyyyyy\r\n \r\n"), (b"1\r\n \r\n0\r\n", b"X: 1\r\n"), (b"1\r\n \r\n0\r\nX: ", b"a")):
            with self.subTest(piece=piece):
                self.bounded(self.post(self.JSON), start, endless(piece), megabytes=8, statuses=(400, 413, 431))

    def test_multipart_preamble_header_and_number_of_parts(self):
        part = b'--b\r\nContent-Disposition: form-data; name="p"\r\n\r\nx\r\n'
        for start, piece in ((b"", b"preamble "), (b"", b"\r\n--"), (b"--b\r\nX: ", b"a"), (b"--b\r\n", b"X: a\r\n"), (b"", part),
                             (part[:-3], b"value of a field that is no file"), (part + b"--b--\r\n", b"epilogue")):
            with self.subTest(piece=piece):
                self.bounded(self.post(self.FORM, b"Content-Length: %d\r\n" % (8 << 20), b"files"), start, endless(piece), megabytes=8, statuses=(400, 413, 422))

    def test_size_of_an_uploaded_file(self):
        start = b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
        self.bounded(self.post(self.FORM, target=b"files"), b"%x\r\n%s\r\n" % (len(start), start), endless(b"100000\r\n" + bytes(1 << 20) + b"\r\n"),
                     megabytes=8, statuses=(413,))
        self.assertEqual(self.target.get("f").status, 404)

    def test_requests_whose_answers_nobody_reads(self):
        """Pipelined without end: the server stops reading when its answers are not taken."""
        self.sandbox.health()
        before = process_tree.resident_kb(self.server_pid)
        connection = self.connect(3)
        request = b"GET /openapi.json HTTP/1.1\r\n" + self.host + b"\r\n"
        sent = 0
        try:
            while sent < EXCESS:
                sent += connection.send(request * 1000)
        except OSError:
            pass
        self.assertLess(sent, EXCESS // 2, "the server goes on reading")
        self.assertLess(process_tree.resident_kb(self.server_pid) - before, 8 * 1024 * SLOWNESS)
        connection.close()

    def test_number_of_requests_on_a_connection(self):
        connection = self.sandbox.new_connection()
        for _ in range(200):
            connection.request("GET", "/health")
        before = process_tree.resident_kb(self.server_pid)
        for _ in range(10_000):
            connection.request("GET", "/health")
        self.assertLess(process_tree.resident_kb(self.server_pid) - before, 2 * 1024 * SLOWNESS)

    def test_number_of_connections(self):
        """At the bound the oldest idle one gives way, and a new client is served all the time."""
        before = process_tree.descriptors(self.server_pid)
        held = []
        for number in range(600):
            held.append(self.connect())
            if number % 100 == 99:
                self.assertEqual(self.sandbox.new_connection(10).request("GET", "/health").status, 200)
                self.assertLess(process_tree.descriptors(self.server_pid) - before, 220)
        for connection in held:
            connection.close()
        wait_for(lambda: process_tree.descriptors(self.server_pid) <= before + 8, 10, "descriptors at their level")

    def test_number_of_threads(self):
        """Bodies that do not come hold a thread each, up to the bound; a cheap request is served beyond it."""
        held = [self.connect() for _ in range(60)]
        for connection in held:
            connection.sendall(self.exec_head(b"Content-Length: 1000\r\n\r\n") + b"{")
        time.sleep(1)
        with open("/proc/%d/status" % self.server_pid) as file:
            threads = next(int(line.split()[1]) for line in file if line.startswith("Threads:"))
        self.assertLess(threads, 16 + 8 + 12)
        self.assertEqual(self.sandbox.new_connection(10).request("GET", "/health").status, 200)
        for connection in held:
            connection.close()
        wait_for(lambda: self.target.code("print('served')").stdout == "served", 10, "a call after the flood")

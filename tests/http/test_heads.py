# SPDX-License-Identifier: Apache-2.0
import json

from hostile import HostileTestCase


class Heads(HostileTestCase):
    """Request lines and header sections that no well-meant client sends."""

    def each_refused(self, heads, statuses=(400,), **options):
        for head in heads:
            with self.subTest(head=head[:60]):
                self.refused(head, statuses=statuses, **options)

    def test_request_lines(self):
        host = self.host
        self.each_refused([line + b"\r\n" + host + b"\r\n" for line in (
            b"GET", b"GET /health", b"GET  /health HTTP/1.1", b"GET /health  HTTP/1.1", b"GET /health HTTP/1.1 x", b"GET /hea lth HTTP/1.1",
            b"/health HTTP/1.1", b"GET health HTTP/1.1", b"GET /health http/1.1", b"GET /health HTTP/1", b"GET /health HTTP/1.10",
            b"GET /health HTTX/1.1", b"G\x00T /health HTTP/1.1", b"GET /he\x00alth HTTP/1.1", b"GET /he\xffalth HTTP/1.1",
            b"G(T /health HTTP/1.1", b"\xff\xfe /health HTTP/1.1", b"GET /health\tHTTP/1.1")], (400, 505))

    def test_versions(self):
        for version in (b"HTTP/2.0", b"HTTP/0.9", b"HTTP/3.0", b"HTTP/1.2"):
            with self.subTest(version=version):
                answer = self.talk(b"GET /health " + version + b"\r\n" + self.host + b"Connection: close\r\n\r\n")
                self.assertIn(answer.statuses, ([505], [400], [200]) if version == b"HTTP/1.2" else ([505], [400]))

    def test_http_1_0_is_served_and_closed(self):
        answer = self.talk(b"GET /health HTTP/1.0\r\n" + self.host + b"\r\n")
        self.assertEqual((answer.statuses, answer.closed), ([200], True))

    def test_long_targets_lines_and_sections(self):
        self.refused(b"GET /" + b"A" * 100_000 + b" HTTP/1.1\r\n" + self.host + b"\r\n", statuses=(414, 431, 400))
        self.refused(b"GET /health HTTP/1.1\r\n" + self.host + b"X: " + b"a" * 1_000_000 + b"\r\n\r\n", statuses=(431, 400))
        self.refused(b"GET /health HTTP/1.1\r\n" + self.host + b"".join(b"X-%d: 1\r\n" % n for n in range(10_000)) + b"\r\n", statuses=(431, 400))
        self.refused(b"A" * 1_000_000, statuses=(400, 414, 431), may_just_close=True)

    def test_field_lines(self):
        start = b"GET /health HTTP/1.1\r\n" + self.host
        self.each_refused([start + line + b"\r\n\r\n" for line in (
            b"X : a", b"X a", b": a", b"X(: a", b"X\r\n : folded", b"X: a\r\n\tfolded", b"X: a\x00b", b"X: a\nY: b\rZ: c", b"\xc3\xa4: b", b"X\x7f: a",
            b"Content-Length\x00: 5", b"X: \x01")])
        self.refused(b"GET /health HTTP/1.1\r\n X: first\r\n" + self.host + b"\r\n")

    def test_host_fields(self):
        for host in (b"", b"Host: a\r\nHost: a\r\n", self.host + self.host, self.host + b"Host: b\r\n", b"Host: a@b\r\n", b"Host: a/b\r\n",
                     b"Host: a:99999\r\n", b"Host: a:b\r\n", b"Host: [::1\r\n", b"Host: a, b\r\n", b"Host: a b\r\n", b"Host: a\\b\r\n"):
            with self.subTest(host=host):
                self.assert_ran(0, lambda: self.refused(self.exec_head(host=host) + b"Content-Length: %d\r\n\r\n" % len(self.exec_body()) + self.exec_body(),
                                                        statuses=(400, 421)))

    def test_a_foreign_host_name_is_misdirected_and_runs_nothing(self):
        body = self.exec_body()
        for name in (b"evil.example", b"evil.example:%d" % self.server.port, b"127.0.0.1.nip.io", b"0.0.0.0", b"2130706433", b"127.1", b"localhost.evil"):
            with self.subTest(name=name):
                head = self.exec_head(b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body), host=b"Host: " + name + b"\r\n")
                answer = self.assert_ran(0, lambda: self.talk(head + body))
                self.assertIn(answer.statuses[0], (421, 403))
        for name in (b"localhost", b"LOCALHOST:%d" % self.server.port, b"127.0.0.1"):
            head = self.exec_head(b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(body), host=b"Host: " + name + b"\r\n")
            self.assertEqual(self.assert_ran(1, lambda: self.talk(head + body)).statuses, [200], name)

    def test_requests_of_web_pages_run_nothing(self):
        body = self.exec_body()
        for field in (b"Origin: https://evil.example", b"Origin: null", b"Sec-Fetch-Site: cross-site",
                      b"Origin: http://127.0.0.1:%d" % (self.server.port ^ 1), b"Origin: http://localhost:%d" % self.server.port):
            with self.subTest(field=field):
                head = self.exec_head(field + b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
                answer = self.assert_ran(0, lambda: self.talk(head + body))
                self.assertEqual(answer.statuses, [403])
        for kind in (b"text/plain", b"application/x-www-form-urlencoded", b"multipart/form-data", b"text/plain; application/json"):
            head = (b"POST " + self.target.target.encode() + b"/exec HTTP/1.1\r\n" + self.host + b"Content-Type: " + kind +
                    b"\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % len(body))
            answer = self.assert_ran(0, lambda: self.talk(head + body))
            self.assertIn(answer.statuses[0], (415, 422, 400), kind)

    def test_methods(self):
        for method in (b"TRACE", b"CONNECT", b"PROPFIND", b"BREW", b"OPTIONS", b"PUT", b"PATCH", b"get", b"A" * 500):
            with self.subTest(method=method[:10]):
                answer = self.talk(method + b" /health HTTP/1.1\r\n" + self.host + b"X-Secret: echo-me\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                self.assertIn(answer.statuses[0], (405, 501, 400))
                self.assertNotIn(b"echo-me", answer.data)
        answer = self.talk(b"CONNECT evil.example:443 HTTP/1.1\r\n" + self.host + b"Connection: close\r\n\r\n")
        self.assertIn(answer.statuses[0], (400, 405, 421, 501))

    def test_other_target_forms(self):
        own = b"http://127.0.0.1:%d/health" % self.server.port
        for target, statuses in ((own, (200, 400)), (b"http://evil.example/health", (400, 421, 403)), (b"*", (400, 404, 405, 501)),
                                 (b"//evil.example/health", (400, 404)), (b"/health#x", (400, 404)), (b"/%", (400, 404)), (b"/%zz", (400, 404)),
                                 (b"/health%00", (400, 404)), (b"/./health", (400, 404)), (b"/../health", (400, 404)), (b"/health/", (404, 307, 308)),
                                 (b"/%68ealth", (200, 404)), (b"/HEALTH", (404,))):
            with self.subTest(target=target):
                answer = self.talk(b"GET " + target + b" HTTP/1.1\r\n" + self.host + b"Connection: close\r\n\r\n")
                self.assertIn(answer.statuses[0], statuses)

    def test_what_is_not_http_at_all(self):
        import random
        noise = random.Random(11)
        hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(512)
        for data in [hello, b"SSH-2.0-x\r\n", b"*1\r\n$4\r\nPING\r\n", bytes(70_000), b"\r\n" * 1000, b"\n\n\n\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"] + \
                [noise.randbytes(2048) + b"\r\n\r\n" for _ in range(40)]:
            with self.subTest(data=data[:12]):
                self.refused(data, statuses=(400, 414, 421, 431, 505, 501), may_just_close=True, finish=True)

    def test_no_header_can_be_injected(self):
        for target in (b"/health?x=%0d%0aX-Injected:%201", b"/sessions/%0d%0aX-Injected:1", b"/%0d%0a%0d%0abody"):
            answer = self.talk(b"GET " + target + b" HTTP/1.1\r\n" + self.host + b"Connection: close\r\n\r\n")
            self.assertEqual(len(answer.responses), 1)
            self.assertNotIn("x-injected", answer.responses[0][1])
        self.target.code("open('a\\r\\nX-Injected: 1\\r\\n\\r\\nb', 'w').write('x')")
        response = self.target.get("a\r\nX-Injected: 1\r\n\r\nb")
        self.assertNotIn("x-injected", response.headers)
        self.assertIn(response.status, (200, 400))

    def test_the_log_holds_no_control_characters(self):
        self.talk(b"GET /%1b[2J%0aforged HTTP/1.1\r\n" + self.host + b"Connection: close\r\n\r\n")
        self.talk(b"GET /\x1b[2J HTTP/1.1\r\n" + self.host + b"\r\n")
        self.target.code("print('\\n{\"level\": \"error\"}\\n\\x1b[2J user text')")
        log = self.server.log()
        self.assertFalse([c for c in log if ord(c) < 32 and c != "\n"])
        self.assertNotIn("user text", log)
        self.assertNotIn(self.target.id, log)
        self.assertTrue(json.dumps(log))

# SPDX-License-Identifier: Apache-2.0
import time

from hostile import HostileTestCase

SMUGGLED = b"GET /smuggled HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"


class Framing(HostileTestCase):
    """Where a body ends must never be a matter of opinion."""

    def not_run(self, data, statuses=(400,), **options):
        return self.assert_ran(0, lambda: self.refused(data, statuses=statuses, **options))

    def test_length_and_chunked_together(self):
        body = self.exec_body()
        chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        for fields in (b"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", b"Transfer-Encoding: chunked\r\nContent-Length: %d\r\n" % len(chunk)):
            self.not_run(self.exec_head(fields) + b"\r\n" + chunk + SMUGGLED)

    def test_lengths_that_disagree_or_are_no_numbers(self):
        body = self.exec_body()
        for value in (b"Content-Length: %d\r\nContent-Length: 0\r\n" % len(body), b"Content-Length: %d, %d\r\n" % (len(body), len(body) + 1),
                      b"Content-Length: +%d\r\n" % len(body), b"Content-Length: -1\r\n", b"Content-Length: 0x10\r\n", b"Content-Length: 1e3\r\n",
                      b"Content-Length: \r\n", b"Content-Length: 99999999999999999999999\r\n", b"Content-Length: 5 5\r\n", b"Content-Length: %d;\r\n" % len(body)):
            with self.subTest(value=value):
                self.not_run(self.exec_head(value) + b"\r\n" + body + SMUGGLED, statuses=(400, 413))

    def test_transfer_codings_other_than_chunked(self):
        body = self.exec_body()
        chunk = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
        for value in (b"gzip", b"gzip, chunked", b"chunked, chunked", b"identity", b"xchunked", b"chunked;q=1", b" chunked\x0b", b"chun\x00ked", b"", b"chunked, identity"):
            with self.subTest(value=value):
                self.not_run(self.exec_head(b"Transfer-Encoding: " + value + b"\r\n") + b"\r\n" + chunk + SMUGGLED, statuses=(400, 501))
        self.not_run(self.exec_head(b"Transfer-Encoding : chunked\r\n") + b"\r\n" + chunk)
        self.not_run(self.exec_head(b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") + b"\r\n" + chunk + SMUGGLED, statuses=(400, 501))

    def test_chunks_that_are_wrong(self):
        body = self.exec_body()
        head = self.exec_head(b"Transfer-Encoding: chunked\r\n\r\n")
        for data in (b"zz\r\n" + body, b"-5\r\nhello\r\n0\r\n\r\n", b"0x5\r\nhello\r\n0\r\n\r\n", b"5\r\nhelloX\r\n0\r\n\r\n", b" 5\r\nhello\r\n0\r\n\r\n",
                     b"ffffffffffffffffff\r\n", b"\r\n5\r\nhello\r\n", b"5\nhello\n0\n\n", b"5;a=\x00\r\nhello\r\n0\r\n\r\n", b"5" + b";x" * 10_000 + b"\r\nhello\r\n"):
            with self.subTest(data=data[:20]):
                self.not_run(head + data, statuses=(400, 413, 431), may_just_close=True)

    def test_a_good_chunked_call_runs_once_however_it_is_cut(self):
        body = self.exec_body()
        head = self.exec_head(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n")
        pieces = [b"1\r\n%c\r\n" % byte for byte in body] + [b"0\r\n\r\n"]
        self.assertEqual(self.assert_ran(1, lambda: self.talk(head, b"".join(pieces))).statuses, [200])
        self.assertEqual(self.assert_ran(1, lambda: self.talk(head, *pieces[:40], b"".join(pieces[40:]), pause=0.005)).statuses, [200])

    def test_trailers_never_become_headers(self):
        body = self.exec_body()
        head = self.exec_head(b"Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n") + b"%x\r\n%s\r\n0\r\n" % (len(body), body)
        for trailer in (b"Content-Length: 50\r\n", b"Host: evil\r\n", b"Authorization: x\r\n", b"no field at all\r\n"):
            answer = self.talk(head + trailer + b"\r\n")
            self.assertIn(answer.statuses[0], (200, 400))
        for trailer in (b"X: 1\r\n" * 10_000, b"X: " + b"a" * (1 << 20) + b"\r\n"):
            self.refused(head + trailer + b"\r\n", statuses=(400, 413, 431), may_just_close=True)

    def test_chunked_in_http_1_0(self):
        body = self.exec_body()
        self.not_run(self.exec_head(b"Transfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n", version=b"HTTP/1.0") +
                     b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) + SMUGGLED)

    def test_a_body_shorter_than_its_length_runs_nothing(self):
        body = self.exec_body()
        self.not_run(self.exec_head(b"Content-Length: %d\r\n\r\n" % (len(body) + 10)) + body, statuses=(400, 408), may_just_close=True, finish=True)

    def test_what_follows_a_body_is_a_request_of_its_own(self):
        body = self.exec_body()
        answer = self.assert_ran(1, lambda: self.talk(self.exec_head(b"Content-Length: %d\r\n\r\n" % len(body)) + body + b"junk\r\n\r\n"))
        self.assertEqual((answer.statuses, answer.closed), ([200, 400], True))

    def test_pipelined_requests_are_answered_in_order(self):
        body = self.exec_body()
        call = self.exec_head(b"Content-Length: %d\r\n\r\n" % len(body)) + body
        health = b"GET /health HTTP/1.1\r\n" + self.host + b"\r\n"
        missing = b"GET /missing HTTP/1.1\r\n" + self.host + b"\r\n"
        answer = self.assert_ran(2, lambda: self.talk(call + missing + health + call + health, seconds=2))
        self.assertEqual(answer.statuses, [200, 404, 200, 200, 200])

    def test_a_get_with_a_body_does_not_leak_it_into_the_next_request(self):
        body = self.exec_head(b"Content-Length: %d\r\n\r\n" % len(self.exec_body())) + self.exec_body()
        answer = self.assert_ran(0, lambda: self.talk(b"GET /health HTTP/1.1\r\n" + self.host + b"Content-Length: %d\r\n\r\n" % len(body) + body))
        self.assertEqual(len(answer.responses), 1)

    def test_expectations(self):
        answer = self.talk(self.exec_head(b"Expect: 100-continue\r\nContent-Length: 10737418240\r\n\r\n"))
        self.assertEqual((answer.statuses, answer.closed), ([413], True))
        body = self.exec_body()
        answer = self.assert_ran(1, lambda: self.talk(self.exec_head(b"Expect: 100-continue\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)),
                                                      body, pause=0.2))
        self.assertEqual(answer.statuses[-1], 200)
        answer = self.talk(self.exec_head(b"Expect: nonsense\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(body)) + body)
        self.assertEqual(answer.statuses, [417])

    def test_content_codings_are_not_decoded(self):
        import gzip
        bomb = gzip.compress(bytes(50_000_000))
        for coding in (b"gzip", b"deflate", b"br"):
            answer = self.talk(self.exec_head(b"Content-Encoding: " + coding + b"\r\nConnection: close\r\nContent-Length: %d\r\n\r\n" % len(bomb)) + bomb)
            self.assertIn(answer.statuses[0], (415, 400, 422))

    def test_bodies_over_the_bound_are_refused_while_they_are_read(self):
        start = time.monotonic()
        self.refused(self.exec_head(b"Content-Length: %d\r\n\r\n" % (1 << 30)), statuses=(413,))
        self.refused(self.exec_head(b"Transfer-Encoding: chunked\r\n\r\n"), *[b"100000\r\n" + bytes(1 << 20) + b"\r\n"] * 20, statuses=(413, 400), may_just_close=True)
        self.assertLess(time.monotonic() - start, 10)

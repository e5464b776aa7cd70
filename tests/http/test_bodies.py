# SPDX-License-Identifier: Apache-2.0
import json
import time

from hostile import HostileTestCase


class JsonBodies(HostileTestCase):
    """Bodies that are JSON, nearly JSON, or far too much JSON."""

    def post(self, body, target=None):
        return self.sandbox.request("POST", (target or self.target.target) + "/exec", body, ("Content-Type: application/json",))

    def not_run(self, body, statuses=(422, 400, 413)):
        response = self.assert_ran(0, lambda: self.post(body))
        self.assertIn(response.status, statuses, body[:80])
        self.assertIn("detail", response.json())

    def test_depth(self):
        good = self.exec_body()
        for depth in (1000, 100_000, 1_000_000):
            self.not_run(b"[" * depth)
            self.not_run(good[:-1] + b', "x": ' + b"[" * depth + b"]" * depth + b"}")
            self.not_run(good[:-1] + b', "x": ' + b'{"a":' * depth + b"1" + b"}" * depth + b"}")

    def test_shapes(self):
        good = self.exec_body()
        for body in (b"", b"null", b"[]", b'"x"', b"{}", b"{}{}", good + good, good + b",", good[:-1] + b",}", b"/* */" + good, good + b"\x00",
                     b"\xef\xbb\xbf" + b"{", good.decode().encode("utf-16"), b"{'a': 1}", b"\xff" + good, good.replace(b'"tool"', b'"tool\xff"')):
            with self.subTest(body=body[:20]):
                self.not_run(body)

    def test_duplicate_keys_never_make_two_meanings(self):
        for body in (b'{"tool":"code_execution","tool":"bash_code_execution","input":{"code":"%s","command":"touch marks"}}' % self.MARK.replace('"', "'").encode(),
                     b'{"tool":"code_execution","input":{"code":"1"},"input":{"code":"%s"}}' % self.MARK.encode()):
            response = self.assert_ran(0, lambda: self.post(body))
            self.assertIn(response.status, (400, 422))

    def test_text_that_is_not_text(self):
        good = self.exec_body().decode()
        self.not_run(good.replace("open", "\\u0000open").encode().replace(b'"tool"', b'"tool\\u0000"'))
        self.not_run(good.replace("code_execution", "code_execution\\u0000").encode())
        self.not_run(good.encode().replace(b"open", b"\xc3\x28open"))
        self.not_run(good.encode().replace(b"open", b"\x01open"))
        for half in ("\\ud800", "\\udc00", "\\ud800x"):
            response = self.post(good.replace("open", half + "open").encode())
            self.assertIn(response.status, (200, 400, 422))

    def test_numbers(self):
        for text in ("1e999", "-1", "-0", "1e-400", "0.1", "0", "NaN", "Infinity", "-Infinity", "0x10", '"10"', "true", "[1]", "{}", "01", "1.", "+1", ".5"):
            body = self.exec_body().decode()[:-1] + ', "timeout_seconds": %s}' % text
            with self.subTest(text=text):
                response = self.post(body.encode())
                self.assertIn(response.status, (422, 400) if text not in ("1e-400",) else (200, 422, 400))
        for text in ("9223372036854775808", "1" + "0" * 100_000, "1e300", "18446744073709551616"):
            self.assertIn(self.post((self.exec_body("1").decode()[:-1] + ', "timeout_seconds": %s}' % text).encode()).status, (200, 422, 400))

    def test_very_many_keys(self):
        many = ",".join('"k%d":1' % n for n in range(300_000))
        start = time.monotonic()
        self.assertIn(self.post((self.exec_body("1").decode()[:-1] + "," + many + "}").encode()).status, (200, 413, 422))
        self.assertLess(time.monotonic() - start, 5)

    def test_a_source_of_many_megabytes_is_refused(self):
        self.not_run(json.dumps({"tool": "code_execution", "input": {"code": "#" * 5_000_000}}).encode())
        self.not_run(json.dumps({"tool": "code_execution", "input": {"code": "#" * 17_000_000}}).encode(), (413,))

    def test_keys_with_a_meaning_elsewhere_have_none_here(self):
        body = {"tool": "code_execution", "input": {"code": "1", "__proto__": {"a": 1}}, "__proto__": {}, "constructor": {}, "uid": 0, "path": "/etc"}
        self.assertEqual(self.post(json.dumps(body).encode()).status, 200)


class Uploads(HostileTestCase):
    """multipart/form-data that is broken, endless or has other plans."""

    def post(self, body, kind=b"multipart/form-data; boundary=b", session=None):
        session = session or self.target
        head = b"POST %s/files HTTP/1.1\r\n%sContent-Type: %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n" % (
            session.target.encode(), self.host, kind, len(body))
        return self.talk(head, body, seconds=10)

    def part(self, disposition, data=b"x"):
        return b"--b\r\nContent-Disposition: form-data; " + disposition + b"\r\n\r\n" + data + b"\r\n"

    def names(self, session):
        return set(session.bash("find . -type f | sort").stdout.split())

    def test_grammar(self):
        good = self.part(b'name="file"; filename="f"')
        session = self.new_session()
        for kind, body in ((b"multipart/form-data", good + b"--b--\r\n"), (b"multipart/form-data; boundary=", good + b"--b--\r\n"),
                           (b"multipart/form-data; boundary=" + b"b" * 5000, good), (b"multipart/form-data; boundary=other", good + b"--b--\r\n"),
                           (b"multipart/mixed; boundary=b", good + b"--b--\r\n"), (b"application/json", good), (b"multipart/form-data; boundary=b", good),
                           (b"multipart/form-data; boundary=b", b""), (b"multipart/form-data; boundary=b", b"--b--\r\n"),
                           (b"multipart/form-data; boundary=b", b"--b\r\n\r\nx\r\n--b--\r\n"), (b"multipart/form-data; boundary=b", self.part(b"filename=f") + b"--b--\r\n"),
                           (b"multipart/form-data; boundary=b", good.replace(b"\r\n", b"\n") + b"--b--\n"),
                           (b"multipart/form-data; boundary=b", b"--b\r\nContent-Disposition: form-data; name=\"file\"; filename=\"f\"\r\nx--b--\r\n"),
                           (b"multipart/form-data; boundary=b", b"--b\r\nX: " + b"a" * (1 << 20) + b"\r\n\r\nx\r\n--b--\r\n"),
                           (b"multipart/form-data; boundary=b", b"".join(self.part(b'name="p%d"' % n) for n in range(10_000)) + b"--b--\r\n"),
                           (b"multipart/form-data; boundary=b", good + good + b"--b--\r\n")):
            with self.subTest(kind=kind[:50], body=body[:40]):
                answer = self.post(body, kind, session)
                self.assertIn(answer.statuses[0], (400, 413, 415, 422))
        self.assertEqual(self.names(session), set())

    def test_preambles_and_boundary_look_alikes(self):
        session = self.new_session()
        data = b"\r\n--bX\r\n--\r\n-b\r\n--B\r\n" * 1000
        answer = self.post(b"preamble\r\n" + self.part(b'name="file"; filename="f"', data) + b"--b--\r\nepilogue", session=session)
        self.assertIn(answer.statuses[0], (201, 400))
        if answer.statuses[0] == 201:
            self.assertEqual(bytes(session.get("f").body), data)

    def test_time_is_linear_in_the_size(self):
        start = time.monotonic()
        self.post(self.part(b'name="file"; filename="f"', b"\r\n-" * (20 << 20)) + b"--b--\r\n", session=self.new_session())
        self.assertLess(time.monotonic() - start, 8)

    def test_file_names_are_never_paths(self):
        session = self.new_session()
        for name in (b"../../x", b"/etc/x", b"C:\\x", b"a\x00b", b"", b".", b"..", b"a/b", b"a" * (1 << 20), b"..\\x", b"\xff\xfe"):
            with self.subTest(name=name[:20]):
                answer = self.post(self.part(b'name="file"; filename="' + name + b'"') + b"--b--\r\n", session=session)
                self.assertIn(answer.statuses[0], (201, 400, 403, 413, 422))
        for disposition in (b'name="file"; filename="a"; filename*=UTF-8\'\'b', b"name=\"file\"; filename*=UTF-8''..%2f..%2fx", b"name=\"file\"; filename*=utf-7''x"):
            self.assertIn(self.post(self.part(disposition) + b"--b--\r\n", session=session).statuses[0], (201, 400, 403, 422))
        for name in self.names(session):
            self.assertNotIn("/..", name)
        self.assertEqual(self.shell("ls /etc/x /x /tmp/x 2>/dev/null; true", session), "")

    def test_ranges_do_not_amplify(self):
        self.target.put(b"0123456789", "r")
        for value in (b"bytes=0-0," * 1000 + b"1-1", b"bytes=-1", b"bytes=5-2", b"bytes=99999999999999999999-", b"items=0-1", b"bytes=0-4"):
            answer = self.talk(b"GET %s/files?path=r HTTP/1.1\r\n%sRange: %s\r\nConnection: close\r\n\r\n" % (self.target.target.encode(), self.host, value))
            self.assertIn(answer.statuses[0], (200, 206, 416, 400, 431), value[:20])
            self.assertLess(len(answer.data), 2000)

    def test_active_content_is_disarmed(self):
        for name in ("x.html", "x.svg", 'a";filename="b.exe'):
            self.target.put(b"<script>alert(1)</script>", name.replace('"', "_") if '"' in name else name)
            self.target.code("open(%r, 'w').write('<script>')" % name)
            answer = self.target.get(name)
            self.assertEqual(answer.status, 200)
            self.assertEqual(answer.headers.get("content-disposition", "").split(";")[0], "attachment")
            self.assertIn("sandbox", answer.headers.get("content-security-policy", ""))
            self.assertNotIn(';filename="b.exe', answer.headers["content-disposition"])

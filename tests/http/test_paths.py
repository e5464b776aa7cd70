# SPDX-License-Identifier: Apache-2.0
"""Ids and file paths in every spelling: decoded exactly once, and never a way out of the workspace."""

from hostile import HostileTestCase

PLANTED = "planted-by-test-paths"
OUTSIDE = (b"/etc/passwd", b"../../etc/passwd", b"/workspace/../etc/passwd", b"/workspace/./../x", b"..%2f..%2fetc%2fpasswd", b"%2e%2e/%2e%2e/etc/passwd",
           b"%252e%252e%252f%252e%252e%252fetc%252fpasswd", b"..%255c..%255cetc", b"..\\..\\etc\\passwd", b"..%5c..%5cetc", b"....//....//etc/passwd", b"%c0%ae%c0%ae/etc/passwd",
           b"%u002e%u002e/etc/passwd", b"/workspace/%00/etc/passwd", b"f%00", b"%00f", b"file:///etc/passwd", b"//etc/passwd", b"/workspace;/../etc/passwd",
           b"/workspace%2f..%2fetc%2fpasswd", b"~root/.bashrc", b"/proc/self/root/etc/passwd", b"/proc/self/cwd/../etc/passwd", b"proc/self/environ", b"/workspace" + b"/x" * 3000,
           b"a" * 300, b"f/..", b"f/../f", b"f/.", b"link/passwd", b"up/etc/passwd", b"%", b"%zz", b"%ff", b".", b"..", b"/", b"", b"/workspace", b"/workspace/", b"x" * 255 + b"/y")


class Paths(HostileTestCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.target.bash("echo content > f; ln -s /etc link; ln -s ../.. up; ln -s /proc/self/root root")

    def get(self, query, route=b"files"):
        return self.talk(b"GET %s/%s?path=%s HTTP/1.1\r\n%sConnection: close\r\n\r\n" % (self.target.target.encode(), route, query, self.host))

    def test_no_spelling_leads_out(self):
        for path in OUTSIDE:
            for route in (b"files", b"files/list"):
                with self.subTest(path=path[:60], route=route):
                    answer = self.get(path, route)
                    self.assertEqual(len(answer.responses), 1)
                    self.assertNotIn(b"root:", answer.data)
                    allowed = (400, 403, 404, 414, 422)
                    if route == b"files/list" and path in (b".", b"", b"/workspace", b"/workspace/", b"f/.."):
                        allowed += (200,)
                    self.assertIn(answer.statuses[0], allowed, answer.data[:300])

    def test_uploads_and_edits_lead_out_no_more(self):
        for path in OUTSIDE:
            text = path.decode("latin-1")
            with self.subTest(path=text[:60]):
                answers = [self.target.put(PLANTED.encode(), text, "f").status]
                answers.append(self.target.edit("create", text, file_text=PLANTED).status)
                self.assertTrue(set(answers) <= {200, 201, 400, 403, 404, 409, 413, 422}, answers)
        self.assertEqual(self.shell("grep -rl %s /etc /opt 2>/dev/null; true" % PLANTED, self.target), "")
        with open("/etc/passwd") as file:
            self.assertNotIn(PLANTED, file.read())

    def test_a_path_is_decoded_exactly_once(self):
        for name in ("100%.txt", "%2e%2e", "a+b", "a%20b", "%2525", "ä%", "q?x=1&y#z"):
            with self.subTest(name=name):
                self.assertEqual(self.target.put(name.encode(), name).status, 201)
                self.assertEqual(bytes(self.target.get(name).body), name.encode())
                self.assertIn(name, self.target.names())

    def test_ids_have_one_spelling(self):
        own = self.target.target.encode()
        for spelling, statuses in ((own.replace(b"sbx", b"%73bx"), (200, 404)), (own.replace(b"sbx", b"%2573bx"), (400, 404)), (own + b"%00", (400, 404)), (own + b"%2f", (400, 404)),
                                   (own + b"%2f..%2f" + own.rsplit(b"/")[-1], (400, 404)), (own.upper(), (404,)), (own[:-1], (404,)), (own + b"0", (404,)), (own + b"%20", (400, 404)),
                                   (own.replace(b"/sessions/", b"/sessions//"), (400, 404)), (own.replace(b"/sessions/", b"/sessions/./"), (400, 404)),
                                   (own.replace(b"/sessions/", b"/sessions/x/../"), (400, 404)), (b"/sessions/" + b"x" * 5000, (404, 414)), (b"/sessions/%c0%af", (400, 404)),
                                   (b"/sessions/%ff", (400, 404)), (b"/sessions/*", (404,)), (own + b";x=1", (400, 404))):
            with self.subTest(spelling=spelling[:60]):
                answer = self.talk(b"GET " + spelling + b" HTTP/1.1\r\n" + self.host + b"Connection: close\r\n\r\n")
                self.assertIn(answer.statuses[0], statuses)
                self.assertEqual(len(answer.responses), 1)

    def test_parameters_given_twice(self):
        for query in (b"path=f&path=../../etc/passwd", b"path=/etc/passwd&path=f", b"path[]=/etc/passwd", b"PATH=f"):
            answer = self.talk(b"GET %s/files?%s HTTP/1.1\r\n%sConnection: close\r\n\r\n" % (self.target.target.encode(), query, self.host))
            self.assertNotIn(b"root:", answer.data)
            self.assertIn(answer.statuses[0], (200, 400, 422))

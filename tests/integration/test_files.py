# SPDX-License-Identifier: Apache-2.0
import threading
import time

from harness import ServerTestCase, process_tree

MIB = 1 << 20


class Transfer(ServerTestCase):
    def test_bytes_come_back_as_they_went(self):
        data = bytes(range(256)) * 4096 + b"\r\n--boundary7f3a9c\r\n" * 10
        self.assertEqual(self.session.put(data, "x/y.bin").json(), {"path": "x/y.bin", "size_bytes": len(data)})
        self.assertEqual(bytes(self.session.get("x/y.bin").body), data)
        self.prints("print(len(open('x/y.bin', 'rb').read()))", str(len(data)))

    def test_an_upload_replaces_the_file_whole_and_belongs_to_the_session(self):
        self.session.put(b"long old content", "f")
        self.session.put(b"new", "f")
        self.assertEqual(self.shell("cat f; stat -c ' %U' f; echo x >> f"), "new sandbox\n")

    def test_readers_never_see_half_a_file(self):
        self.session.put(b"a" * MIB, "f")
        self.session.bash("(while sleep 0.001; do wc -c < f; done > sizes) & sleep 0.1")
        for _ in range(10):
            self.session.put(b"a" * MIB, "f")
        sizes = set(self.shell("cat sizes").split())
        self.assertEqual(sizes, {str(MIB)})

    def test_over_the_cap_is_413_and_leaves_nothing(self):
        session = self.new_session()
        with self.sandbox.new_connection() as connection:
            head = connection.head("POST", session.target + "/files", 101 * MIB, ("Content-Type: multipart/form-data; boundary=b",))
            connection.send(head)
            self.assertEqual(connection.read_response("POST").status, 413)
        self.assertEqual(session.names(), [])

    def test_a_cut_upload_leaves_nothing(self):
        session = self.session
        session.put(b"old", "f")
        for _ in range(20):
            connection = self.sandbox.new_connection()
            connection.send(connection.head("POST", session.target + "/files", 5 * MIB, ("Content-Type: multipart/form-data; boundary=b",)))
            connection.send(b'--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n' + b"x" * 100_000)
            connection.close()
        time.sleep(0.3)
        self.assertEqual(bytes(session.get("f").body), b"old")
        self.assertEqual(self.shell("ls -A"), "f\n")

    def test_ten_large_uploads_at_once_do_not_grow_the_server(self):
        server = self.server.role("server")
        before, peak, done = process_tree.resident_kb(server), [0], threading.Event()

        def watch():
            while not done.wait(0.02):
                peak[0] = max(peak[0], process_tree.resident_kb(server))

        watcher = threading.Thread(target=watch)
        watcher.start()
        sessions = [self.new_session() for _ in range(10)]
        data, answers = bytes(99 * MIB), []
        threads = [threading.Thread(target=lambda s=s: answers.append(s.put(data, "big").status)) for s in sessions]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        done.set()
        watcher.join()
        self.assertEqual(answers, [201] * 10)
        self.assertLess(peak[0] - before, 64 * 1024)

    def test_upload_into_a_full_workspace_is_a_clean_error(self):
        session = self.new_session()
        for number in range(11):
            response = session.put(bytes(99 * MIB), "f%d" % number)
            if response.status != 201:
                break
        self.assertIn(response.status, (507, 413, 503, 409))
        self.assertIn("detail", response.json())
        self.assertNotIn("f%d" % number, session.names())
        session.bash("rm f0")
        self.assertEqual(session.put(b"x", "again").status, 201)

    def test_a_file_that_changes_while_it_is_read_never_hangs(self):
        self.session.put(b"x" * (30 * MIB), "f")
        self.session.bash("(while :; do : > f; head -c 3000000 /dev/zero > f; done) & ")
        for _ in range(5):
            start = time.monotonic()
            try:
                self.session.get("f")
            except OSError:
                self.sandbox.connection.close()
            self.assertLess(time.monotonic() - start, 10)
        self.assertEqual(self.sandbox.health()["status"], "ok")


class Names(ServerTestCase):
    def test_odd_names_go_in_and_out(self):
        for name in ("a b", "ü.txt", "日本", "%41", "a;b", "-n", "..x", "x.", "'q'", "a&b=c", "+", "#h", "n" * 255, "d/" * 20 + "f"):
            with self.subTest(name=name[:20]):
                self.assertEqual(self.session.put(b"1", name).status, 201)
                self.assertEqual(bytes(self.session.get(name).body), b"1")

    def test_names_that_are_not_utf8_are_listed_without_breaking_the_answer(self):
        self.session.code("open(b'\\xff\\xfe', 'w'); open('ok', 'w'); open('new\\nline', 'w'); open('q\"uote', 'w')")
        names = self.session.names()
        self.assertIn("ok", names)
        self.assertIn("new\nline", names)

    def test_too_long_names_and_paths_are_refused(self):
        for name in ("n" * 256, "d/" * 3000 + "f", "a\0b"):
            self.assertIn(self.session.put(b"1", name).status, (400, 403, 422), name[:20])
        self.assertEqual(self.session.names(), [])

    def test_no_spelling_leaves_the_workspace(self):
        self.shell("ln -s / root; ln -s .. up; ln -s /proc/self/cwd cwd; ln -s /proc/self/root proot; mkdir d; ln -s ../.. d/upup")
        for path in ("..", "../..", "../../etc/passwd", "/etc/passwd", "//etc/passwd", "/workspace/../etc/passwd", "./../etc/passwd",
                     "root/etc/passwd", "up/etc/passwd", "cwd/../etc/passwd", "proot/etc/passwd", "d/upup/etc/passwd",
                     "/proc/self/environ", "/workspace/../workspace/../etc/passwd", "file:///etc/passwd", "~root/x", "..\\..\\etc\\passwd"):
            with self.subTest(path=path):
                for response in (self.session.get(path), self.session.put(b"x", path)):
                    if response.status < 300:  # a literal name below the workspace
                        self.assertNotIn(b"root:", response.body)
                        self.assertIn("\\" if "\\" in path else path[:4], ("\\", "file", "~roo"))
                    else:
                        self.assertIn(response.status, (400, 403, 404))
                self.assertNotIn(b"shadow", self.session.list(path).body)

    def test_download_headers_disarm_active_content(self):
        for name in ("x.html", "x.svg", 'q";filename="b.exe', "new\r\nX-Injected: 1"):
            self.session.code("open(%r, 'w').write('<script>')" % name)
            response = self.session.get(name)
            self.assertEqual(response.status, 200, name)
            self.assertNotIn("x-injected", response.headers)
            self.assertEqual(response.headers.get("x-content-type-options"), "nosniff")


class Listing(ServerTestCase):
    def test_only_regular_files_of_the_directory_itself(self):
        self.shell("mkdir d; touch a b d/c; ln -s / link; mkfifo f")
        self.assertEqual(self.session.names(), ["a", "b"])
        self.assertEqual(self.session.names("d"), ["d/c"])

    def test_times_and_sizes(self):
        self.session.put(b"12345", "f")
        entry = self.session.list().json()["files"][0]
        self.assertEqual(entry["size_bytes"], 5)
        self.assertLess(abs(entry["modified_at"] - time.time()), 30)

    def test_a_directory_of_many_files_is_listed_in_time(self):
        self.session.code("for i in range(20_000): open('f%05d' % i, 'w').close()", 60)
        start = time.monotonic()
        listing = self.session.list().json()
        self.assertLess(time.monotonic() - start, 5)
        self.assertEqual((len(listing["files"]), listing["truncated"]), (10_000, True))

    def test_special_files_never_block(self):
        self.shell("mkfifo fifo; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"; ln -s nowhere dangling; mkdir d")
        for name in ("fifo", "sock", "dangling", "d"):
            start = time.monotonic()
            self.assertIn(self.session.get(name).status, (400, 403, 404, 409), name)
            self.assertLess(time.monotonic() - start, 2)
        self.assertIn(self.session.put(b"x", "d").status, (400, 403, 409))

    def test_workspace_without_permission_or_gone(self):
        self.session.put(b"x", "f")
        self.session.bash("chmod 0 .")
        self.assertIn(self.session.list().status, (200, 403))
        self.session.bash("chmod 700 /workspace")
        self.session.bash("rm -rf /workspace; rm -rf /workspace/* /workspace/.*")
        self.assertEqual(self.session.list().status, 200)
        self.assert_alive()

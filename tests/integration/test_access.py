# SPDX-License-Identifier: Apache-2.0
import base64
import json
import os
import pathlib
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

import process_tree
from harness import BINARY, SLOWNESS, SOURCE, Connection, free_port, plain_environment, running, wait_for

OLD, NEW, OTHER = "old-token-3f9a71", "new-token-b82c44", "other-token-90d1e5"


def ask(server, method, target, fields=None, body=None):
    """(status, fields in lower case, body) of one request on a connection of its own; compared with openapi.json."""
    lines = ["%s: %s" % field for field in {"Content-Type": "application/json", **(fields or {})}.items()]
    with Connection("127.0.0.1", server.port) as connection:
        response = connection.request(method, target, body and body.encode(), lines)
        return response.status, response.headers, bytes(response.body)


def bearer(token):
    return {"Authorization": "Bearer " + token}


def basic(token, name=""):
    return {"Authorization": "Basic " + base64.b64encode(("%s:%s" % (name, token)).encode()).decode()}


def rookery_paths():
    return json.loads((SOURCE / "src/contract/openapi.json").read_text())["paths"]


@unittest.skipUnless(os.geteuid() == 0, "rookery serve needs to be started as root")
class AccessTestCase(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="rookery-test-")
        self.addCleanup(place.cleanup)
        self.place = pathlib.Path(place.name)
        roots = tempfile.TemporaryDirectory(prefix="rookery-test-")
        self.addCleanup(roots.cleanup)
        self.roots = pathlib.Path(roots.name)
        self.roots.chmod(0o755)  # the warden's own uid has to come through

    def status(self, server, token):
        return ask(server, "GET", "/openapi.json", bearer(token))[0]

    def refused(self, settings, arguments, words, status=2):
        environment = plain_environment({"SANDBOX_SESSIONS_ROOT": str(self.roots / "sessions"), **settings})
        done = subprocess.run([BINARY, "serve", *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, status, done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        return done.stderr


class Tokens(AccessTestCase):
    """With a token, every route but /health wants it; nobody can read it anywhere else."""

    def test_every_route_but_health_wants_the_token(self):
        with running({"SANDBOX_AUTH_TOKEN": OLD}) as server:
            self.assertEqual(ask(server, "GET", "/health")[0], 200)
            for method, target in (("GET", "/openapi.json"), ("POST", "/sessions"), ("GET", "/sessions/x"), ("DELETE", "/sessions/x"),
                                   ("GET", "/nowhere"), ("PATCH", "/sessions"), ("GET", "/health/"), ("GET", "//health")):
                with self.subTest(method=method, target=target):
                    status, fields, body = ask(server, method, target)
                    self.assertEqual((status, fields.get("www-authenticate")), (401, "Bearer"))
                    self.assertEqual(json.loads(body), {"detail": "Not authenticated"})
            for value in ("", OLD, "Bearer", "Bearer ", "Bearer" + OLD, "Basic " + OLD, "Bearer %sx" % OLD, "Bearer %s" % OLD[:-1],
                          "Bearer %s %s" % (OLD, OLD), "Bearer " + OLD.upper()):
                with self.subTest(value=value):
                    self.assertEqual(ask(server, "GET", "/openapi.json", {"Authorization": value})[0], 401)
            self.assertEqual(self.status(server, OLD), 200)
            self.assertEqual(ask(server, "GET", "/openapi.json", {"Authorization": "bearer  " + OLD})[0], 200)
            status, _, body = ask(server, "POST", "/sessions", bearer(OLD), "{}")
            self.assertEqual(status, 201)
            target = "/sessions/" + json.loads(body)["session_id"]
            self.assertEqual(ask(server, "DELETE", target)[0], 401)
            self.assertEqual(ask(server, "GET", target, bearer(OLD))[0], 200)

    def test_a_browser_opens_the_pages_with_the_token_as_password_and_nothing_else(self):
        """It sends a password again by itself, also when another site makes it ask: the API must not take one."""
        pages = [path for path, item in rookery_paths().items() if item.get("get", {}).get("tags") == ["pages"]]
        self.assertGreaterEqual(len(pages), 4)
        file = self.place / "tokens"
        file.write_text(OLD + "\n" + NEW + "\n")
        with running({"SANDBOX_AUTH_TOKEN_FILE": str(file)}) as server:
            for page in pages:
                with self.subTest(page=page):
                    status, fields, body = ask(server, "GET", page)
                    self.assertEqual((status, fields["www-authenticate"]), (401, 'Basic realm="rookery", Bearer'))
                    self.assertEqual(json.loads(body), {"detail": "Not authenticated"})
                    for good in (basic(OLD), basic(NEW), basic(OLD, "somebody"), bearer(NEW)):
                        self.assertEqual([ask(server, method, page, good)[0] for method in ("GET", "HEAD")], [200, 200], good)
                    for bad in (basic(OTHER), basic(""), basic("", OLD), basic(OLD + "x"), basic(":" + OLD), {"Authorization": "Basic " + OLD}):
                        self.assertEqual(ask(server, "GET", page, bad)[0], 401, bad)
                    self.assertEqual(ask(server, "POST", page, basic(OLD), "{}")[0], 401)
            _, _, body = ask(server, "POST", "/sessions", bearer(OLD), "{}")
            session = json.loads(body)["session_id"]
            looked_at = 0
            for path, item in rookery_paths().items():
                for method in (name.upper() for name in item if name != "parameters"):
                    if path in pages or item[method.lower()].get("security") == []:
                        continue
                    with self.subTest(method=method, path=path):
                        status, fields, _ = ask(server, method, path.replace("{session_id}", session), basic(OLD), None if method in ("GET", "DELETE") else "{}")
                        self.assertEqual((status, fields["www-authenticate"]), (401, "Bearer"))
                        looked_at += 1
            self.assertGreaterEqual(looked_at, 11)
            self.assertEqual(ask(server, "GET", "/sessions/" + session, bearer(OLD))[0], 200)

    def test_a_token_is_nowhere_to_be_read(self):
        file = self.place / "tokens"
        file.write_text(NEW + "\n")
        for settings, token in (({"SANDBOX_AUTH_TOKEN": OLD}, OLD), ({"SANDBOX_AUTH_TOKEN_FILE": str(file)}, NEW)):
            with self.subTest(settings=settings), running({**settings, "LOG_LEVEL": "DEBUG", "SANDBOX_POOL_SIZE": "1"}) as server:
                status, _, body = ask(server, "POST", "/sessions", bearer(token), "{}")
                self.assertEqual(status, 201)
                target = "/sessions/" + json.loads(body)["session_id"]
                ask(server, "GET", target, bearer(OTHER))
                code = ("import glob, os\nprint(dict(os.environ))\n"
                        "for name in glob.glob('/proc/*/environ') + glob.glob('/proc/*/cmdline'):\n"
                        "    try: print(open(name, 'rb').read())\n"
                        "    except OSError: pass\n")
                status, _, body = ask(server, "POST", target + "/exec", bearer(token),
                                      json.dumps({"tool": "code_execution", "input": {"code": code}}))
                self.assertEqual((status, token.encode() in body), (200, False), body)
                self.assertIn(b"python3", body)
                looked_at = 0
                for pid in server.tree():
                    for name in ("environ", "cmdline"):
                        content = pathlib.Path("/proc/%d/%s" % (pid, name)).read_bytes()
                        looked_at += 1
                        self.assertNotIn(token.encode(), content, "%s of %s" % (name, process_tree.title(pid)))
                self.assertGreater(looked_at, 8)
                self.assertNotIn(token, server.log())
                self.assertNotIn(OTHER, server.log())

    def test_a_wrong_token_is_not_repeated(self):
        said = self.refused({"SANDBOX_AUTH_TOKEN": "a b " + OLD}, ["--listen", "127.0.0.1:0"], ["token"], status=1)
        self.assertNotIn(OLD, said)
        done = subprocess.run([BINARY, "config"], env=plain_environment({"SANDBOX_AUTH_TOKEN": OLD}), capture_output=True, text=True, timeout=30)
        self.assertNotIn(OLD, done.stdout)
        self.assertRegex(done.stdout, r"SANDBOX_AUTH_TOKEN +\*+ +environment")

    def test_a_token_is_no_argument(self):
        self.refused({}, ["--auth-token", OLD], ["unknown argument"])

    def test_both_ways_at_once(self):
        self.refused({"SANDBOX_AUTH_TOKEN": OLD, "SANDBOX_AUTH_TOKEN_FILE": "/etc/hostname"}, [], ["SANDBOX_AUTH_TOKEN_FILE", "one of them"])


class TokenFile(AccessTestCase):
    """Several tokens at once, and new ones without a restart, by the ways that files are replaced."""

    def setUp(self):
        super().setUp()
        self.file = self.place / "tokens"

    def write(self, *tokens):
        self.file.write_text("".join(token + "\n" for token in tokens))
        self.file.chmod(0o600)

    def reload(self, server, token, status):
        server.process.send_signal(signal.SIGHUP)
        wait_for(lambda: self.status(server, token) == status, 20, "%d for a token after SIGHUP; log:\n%s" % (status, server.notable_log()))

    def serving(self, path=None, **settings):
        return running({"SANDBOX_AUTH_TOKEN_FILE": str(path or self.file), "SANDBOX_POOL_SIZE": "1", **settings})

    def test_rotation_in_place(self):
        self.place.chmod(0o700)
        self.write(OLD)
        with self.serving() as server:
            self.assertEqual((self.status(server, OLD), self.status(server, NEW)), (200, 401))
            self.write(OLD, NEW)
            self.assertEqual(self.status(server, NEW), 401)  # only when told
            self.reload(server, NEW, 200)
            self.assertEqual(self.status(server, OLD), 200)
            self.write(NEW)
            self.reload(server, OLD, 401)
            self.assertEqual(self.status(server, NEW), 200)
            self.assertNotIn(NEW, server.log())

    def test_rotation_by_rename(self):
        self.place.chmod(0o700)
        self.write(OLD)
        with self.serving() as server:
            for token, gone in ((NEW, OLD), (OLD, NEW)):
                fresh = self.place / "fresh"
                fresh.write_text(token)
                fresh.chmod(0o400)
                fresh.rename(self.file)
                self.reload(server, token, 200)
                self.assertEqual(self.status(server, gone), 401)

    def test_rotation_as_kubernetes_does(self):
        """A link to a link to a directory, of which the second is replaced by rename."""
        def version(name, token):
            (self.place / name).mkdir(mode=0o700)
            (self.place / name / "tokens").write_text(token)

        version("..one", OLD)
        (self.place / "..data").symlink_to("..one")
        self.file.symlink_to("..data/tokens")
        with self.serving() as server:
            self.assertEqual(self.status(server, OLD), 200)
            version("..two", NEW)
            (self.place / "..next").symlink_to("..two")
            (self.place / "..next").rename(self.place / "..data")
            self.reload(server, NEW, 200)
            self.assertEqual(self.status(server, OLD), 401)

    def test_a_file_that_others_own(self):
        self.place.chmod(0o755)
        self.write(OLD)
        os.chown(self.file, 12345, 12345)
        with self.serving() as server:
            self.assertEqual(self.status(server, OLD), 200)

    @unittest.skipIf(SLOWNESS > 1, "AddressSanitizer asks for the signal stack where something is thrown, which the token reader's filter refuses")
    def test_what_cannot_be_used_changes_nothing(self):
        self.write(OLD)
        with self.serving() as server:
            for number, spoil in enumerate((lambda: self.file.write_text("\n"), lambda: self.file.write_text("two words"), self.file.unlink,
                                            lambda: os.mkfifo(self.file), lambda: self.file.write_text("x" * 70000))):
                with self.subTest(number=number):
                    if number == 4:
                        self.file.unlink()
                    spoil()
                    server.process.send_signal(signal.SIGHUP)
                    wait_for(lambda: server.log().count("stay as they were") == number + 1, 20, "a warning; log:\n" + server.notable_log())
                    self.assertEqual(self.status(server, OLD), 200)
            self.write(NEW)
            self.reload(server, NEW, 200)

    def test_a_start_without_a_usable_token_is_refused(self):
        listen = ["--listen", "127.0.0.1:0"]
        self.refused({"SANDBOX_AUTH_TOKEN_FILE": str(self.file)}, listen, [self.file.name, "No such file"], status=1)
        self.file.write_text(" \n\n")
        self.refused({"SANDBOX_AUTH_TOKEN_FILE": str(self.file)}, listen, ["token"], status=1)
        self.refused({"SANDBOX_AUTH_TOKEN_FILE": "tokens"}, listen, ["SANDBOX_AUTH_TOKEN_FILE", "absolute path"])

    def test_the_reader_can_do_nothing_else(self):
        self.place.chmod(0o700)
        self.write(OLD)
        with self.serving() as server:
            status = process_tree.read("/proc/%d/status" % server.role("token reader"))
            for line in ("CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "CapBnd:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"):
                self.assertIn(line, status)
            ids = next(line.split()[1:] for line in status.splitlines() if line.startswith("Uid:"))
            self.assertNotIn("0", ids[:3])
            self.assertEqual(ids[3], "0")
            self.assertEqual(os.readlink("/proc/%d/root" % server.role("token reader")), str(self.place))
            os.kill(server.role("token reader"), signal.SIGKILL)
            wait_for(lambda: "token reader ended" in server.log(), 20, "a word about it")
            self.assertEqual(self.status(server, OLD), 200)


class Listening(AccessTestCase):
    """Without a token only this machine is served, unless the operator says otherwise."""

    def test_an_open_address_needs_a_token_or_a_word(self):
        port = free_port()
        for address in ("0.0.0.0:%d", "[::]:%d"):
            with self.subTest(address=address):
                self.refused({}, ["--listen", address % port], [address % port, "SANDBOX_AUTH_TOKEN_FILE", "--no-auth"])
        with running(arguments=("--listen", "0.0.0.0:%d" % port, "--no-auth")) as server:
            server.port = port
            self.assertIn("warning: no authentication on 0.0.0.0:%d" % port, server.log())
            self.assertEqual(ask(server, "GET", "/openapi.json")[0], 200)
        with running({"SANDBOX_AUTH_TOKEN": OLD}, arguments=("--listen", "0.0.0.0:%d" % port, "--no-auth")) as server:
            server.port = port
            self.assertNotIn("no authentication", server.log())
            self.assertEqual((ask(server, "GET", "/openapi.json")[0], self.status(server, OLD)), (401, 200))

    def test_port_0_is_told(self):
        with running(arguments=("--listen", "127.0.0.1:0")) as server:
            server.port = int(server.log().split("ready on http://127.0.0.1:")[1].split()[0])
            self.assertEqual(ask(server, "GET", "/health")[0], 200)

    def test_unix_socket(self):
        path = self.place / "rookery.sock"

        def health():
            with socket.socket(socket.AF_UNIX) as client:
                client.connect(str(path))
                client.sendall(b"GET /health HTTP/1.0\r\nHost: anything\r\n\r\n")
                return client.makefile("rb").read()

        for mode in (0o660, 0o600):
            with running({"SANDBOX_LISTEN_MODE": "0%o" % mode}, arguments=("--listen", "unix:%s" % path)) as server:
                self.assertIn("rookery ready on unix:%s" % path, server.log())
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode)
                self.assertIn(b'"status":"ok"', health())
                self.refused({}, ["--listen", "unix:%s" % path], ["in use"], status=1)
                self.assertIn(b'"status":"ok"', health())

    def test_unix_socket_where_something_else_is(self):
        file = self.place / "file"
        file.write_text("mine")
        self.refused({}, ["--listen", "unix:%s" % file], [str(file)], status=1)
        self.assertEqual(file.read_text(), "mine")
        self.refused({}, ["--listen", "unix:%s/none/sock" % self.place], ["none/sock"], status=1)
        self.refused({}, ["--listen", "unix:/%s" % ("x" * 120)], ["107 bytes"], status=1)


class Tenants(AccessTestCase):
    """A session is there for its own tenant only."""

    def test_sessions_of_another_tenant_are_not_there(self):
        with running({"SANDBOX_REQUIRE_TENANT": "1", "SANDBOX_TENANT_HEADER": "X-Team"}) as server:
            self.assertEqual(ask(server, "GET", "/health")[0], 200)
            for fields in ({}, {"X-Team": ""}, {"X-Tenant-Id": "blue"}, {"X-Team": "x" * 300}):
                status, answer, body = ask(server, "POST", "/sessions", fields, "{}")
                self.assertEqual((status, answer.get("www-authenticate")), (401, "Bearer"))
                self.assertEqual(json.loads(body), {"detail": "No tenant"})
            blue, red = {"X-Team": "blue"}, {"X-Team": "red"}
            status, _, body = ask(server, "POST", "/sessions", blue, "{}")
            self.assertEqual(status, 201)
            target = "/sessions/" + json.loads(body)["session_id"]
            call = json.dumps({"tool": "bash_code_execution", "input": {"command": "echo hi > f; echo done"}})
            self.assertEqual(ask(server, "POST", target + "/exec", blue, call)[0], 200)
            for method, where, body in (("GET", "", None), ("POST", "/exec", call), ("GET", "/files/list", None), ("GET", "/files?path=f", None)):
                with self.subTest(method=method, where=where):
                    status, _, answer = ask(server, method, target + where, red, body)
                    self.assertEqual((status, json.loads(answer)), (404, {"detail": "session not found"}))
                    self.assertEqual(ask(server, method, target + where, {}, body)[0], 401)
            shown = target.rpartition("/")[2][:12]
            for tenant, there in ((blue, True), (red, False)):
                self.assertEqual([session["session_id"] for session in json.loads(ask(server, "GET", "/sessions", tenant)[2])["sessions"]], [shown] * there)
                self.assertEqual(shown.encode() in ask(server, "GET", "/", tenant)[2], there)
            self.assertEqual([ask(server, "GET", where)[0] for where in ("/sessions", "/")], [401, 401])
            self.assertEqual(ask(server, "DELETE", target, red)[0], 204)  # as for one that never was
            self.assertEqual(ask(server, "GET", target + "/files?path=f", blue)[2], b"hi\n")
            self.assertEqual(ask(server, "DELETE", target, blue)[0], 204)
            self.assertEqual(ask(server, "GET", target, blue)[0], 404)

    def test_without_tenants_the_field_says_nothing(self):
        with running() as server:
            status, _, body = ask(server, "POST", "/sessions", {"X-Tenant-Id": "blue"}, "{}")
            self.assertEqual(status, 201)
            target = "/sessions/" + json.loads(body)["session_id"]
            self.assertEqual(ask(server, "GET", target, {"X-Tenant-Id": "red"})[0], 200)
            ask(server, "DELETE", target)

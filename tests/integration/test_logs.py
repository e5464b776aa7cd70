# SPDX-License-Identifier: Apache-2.0
import json
import os
import re
import signal
import unittest

from harness import Server, ServerTestCase, running, wait_for

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
# Runs `getpid` by the i386 entry of the kernel, which the filter of sessions answers with SIGSYS.
FOREIGN_CALL = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(b"\\x53\\xb8\\x14\\x00\\x00\\x00\\xcd\\x80\\x5b\\xc3")
ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))()
"""
FORGED_ANSWER = """
import os, socket, stat
for fd in range(3, 1024):
    try:
        if stat.S_ISSOCK(os.fstat(fd).st_mode):
            socket.socket(fileno=os.dup(fd)).send(b"RKW1 no answer")
    except OSError:
        pass
"""


class Log(ServerTestCase):
    """The log as records; the one line that is for people and scripts is left out."""

    def records(self):
        lines = [line for line in self.server.log().splitlines() if not line.startswith("rookery ready on ")]
        return [json.loads(line) for line in lines]

    def find(self, **wanted):
        return [record for record in self.records() if all(record.get(key) == value for key, value in wanted.items())]

    def await_record(self, **wanted):
        """A request's line is written when its answer has left, so it may come a moment later."""
        return wait_for(lambda: self.find(**wanted), 5, "record with %r in\n%s" % (wanted, self.server.log()[-3000:]))

    def raw(self, target, *headers, method="GET", body=None):
        return self.sandbox.request(method, target, body, headers)


class JsonLines(Log):
    settings = {"LOG_FORMAT": "json", "LOG_LEVEL": "DEBUG", "ENVIRONMENT": 'test "quoted"\u2028', "SANDBOX_PRELOAD": "this",
                "SANDBOX_SESSION_GC_INTERVAL": "1", "SANDBOX_SPAWN": "fork"}

    def test_every_line_has_time_level_message_and_origin(self):
        self.session.code("1")
        self.await_record(message="request", route="exec")
        for record in self.records():
            self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
            self.assertIn(record["level"], ("DEBUG", "INFO", "WARNING", "ERROR", "CRITICAL"))
            self.assertIn(record["role"], ("server", "warden", "init", "zygote", "supervisor"))
            self.assertEqual((record["service"], record["environment"]), ("rookery", 'test "quoted"\u2028'))
            self.assertTrue(record["message"])

    def test_a_call_is_one_line_with_all_that_is_known_of_it(self):
        body = json.dumps({"tool": "bash_code_execution", "input": {"command": "exit 3"}}).encode()
        self.raw(self.session.target + "/exec", "Content-Type: application/json", "X-Request-Id: abc.DEF_1:2/3@4+5=6-7",
                 "traceparent: 00-%s-00f067aa0ba902b7-01" % TRACE, method="POST", body=body)
        records = self.await_record(message="request", request_id="abc.DEF_1:2/3@4+5=6-7")
        self.assertEqual(len(records), 1)
        record = records[0]
        for key, value in {"level": "INFO", "role": "server", "method": "POST", "route": "exec", "status": 200, "outcome": "error",
                           "tool": "bash_code_execution", "trace_id": TRACE, "session_id": self.session.id[:12]}.items():
            self.assertEqual(record.get(key), value, record)
        self.assertGreater(record["duration_ms"], 0)

    def test_every_request_has_one_line(self):
        before = len(self.find(message="request"))
        for _ in range(25):
            self.sandbox.health()
        wait_for(lambda: len(self.find(message="request")) >= before + 25, 5, "lines")
        self.assertEqual(len(self.find(message="request")), before + 25)

    def test_request_ids_are_taken_or_made_and_always_sent_back(self):
        for given in ("a", "A-1_2.3", "x" * 128):
            self.assertEqual(self.raw("/health", "X-Request-Id: " + given).headers["x-request-id"], given)
        made = set()
        for headers in ((), ("X-Request-Id: ",), ("X-Request-Id: a b",), ("X-Request-Id: " + "x" * 129,), ('X-Request-Id: "quoted"',),
                        ("X-Request-Id: a", "X-Request-Id: b"), ("X-Request-Id: \u00e9",)):
            answer = self.raw("/health", *headers)
            self.assertEqual(answer.status, 200, headers)
            made.add(answer.headers["x-request-id"])
            self.assertRegex(answer.headers["x-request-id"], "^[0-9a-f]{32}$")
        self.assertEqual(len(made), 7)
        for method, target in (("GET", "/nowhere"), ("PUT", "/health"), ("GET", "/sessions/none")):
            answer = self.raw(target, "X-Request-Id: mine", method=method)
            self.assertEqual(answer.headers["x-request-id"], "mine")
        self.assertTrue(self.find(message="request", request_id="mine", status=404))

    def test_broken_trace_parents_are_no_error_and_leave_no_trace(self):
        for number, value in enumerate(("", "00", "00-%s-00f067aa0ba902b7-0" % TRACE, "ff-%s-00f067aa0ba902b7-01" % TRACE,
                                        "00-%s-00f067aa0ba902b7-01" % ("0" * 32), "00-%s-%s-01" % (TRACE, "0" * 16),
                                        "00-%s-00f067aa0ba902b7-01" % TRACE.upper(), "00-%s-00f067aa0ba902b7-01-x" % TRACE)):
            name = "trace-%d" % number
            self.assertEqual(self.raw("/health", "traceparent: " + value, "X-Request-Id: " + name).status, 200)
            self.assertNotIn("trace_id", self.await_record(message="request", request_id=name)[0], value)
        self.raw("/health", "traceparent: 01-%s-00f067aa0ba902b7-00-later" % TRACE, "X-Request-Id: later")
        self.assertEqual(self.await_record(message="request", request_id="later")[0]["trace_id"], TRACE)

    def test_sessions_and_processes_tell_their_life(self):
        session = self.sandbox.create()
        mine = session.id[:12]
        session.delete()
        brief = self.sandbox.create(idle_timeout_seconds=1)
        self.assertTrue(self.find(message="session created", session_id=mine, level="INFO"))
        self.assertTrue(self.find(message="session ended", session_id=mine, reason="deleted"))
        self.await_record(message="session ended", session_id=brief.id[:12], reason="idle")
        self.assertTrue(self.find(message="server started", level="INFO"))
        self.assertTrue(self.find(message="zygote started", role="zygote"))
        self.assertTrue(self.find(message="jail started", role="init", session_id=mine))
        self.assertTrue(self.find(message="jail ended", role="init", session_id=mine))

    def test_a_lost_interpreter_is_told(self):
        with self.sandbox.create() as session:
            session.code("import os; os._exit(3)")
            self.await_record(message="interpreter restarted", session_id=session.id[:12])

    def test_what_the_zygote_prints_comes_line_by_line(self):
        printed = [record["text"] for record in self.find(role="zygote", message="printed")]
        self.assertIn("Beautiful is better than ugly.", printed)

    def test_limits_are_warnings(self):
        self.session.code("while True: pass", timeout=1)
        self.assertTrue(self.find(message="limit reached", level="WARNING", limit="wall_clock", tool="code_execution",
                                  session_id=self.session.id[:12]))
        self.await_record(message="request", outcome="timeout", limit="wall_clock")

    def test_policy_violations_are_warnings(self):
        with self.sandbox.create() as session:
            self.assertEqual(session.code(FOREIGN_CALL).return_code, 128 + 31)
            session.code(FORGED_ANSWER)
            mine = session.id[:12]
            self.assertTrue(self.find(message="policy violation", level="WARNING", kind="seccomp_kill", session_id=mine))
            self.assertTrue(self.find(message="policy violation", level="WARNING", kind="forged_message", session_id=mine))
            session.get("../../etc/passwd")
            self.await_record(message="policy violation", kind="path_outside", session_id=mine)
            session.edit("view", "/etc/passwd")
            self.await_record(message="policy violation", kind="path_outside", session_id=mine, tool="text_editor_code_execution")
        self.raw("/health", "Origin: http://evil.example")
        self.await_record(message="policy violation", kind="cross_site_request")

    def test_nothing_of_code_output_files_or_whole_ids_is_there(self):
        with self.sandbox.create() as session:
            session.code("word = 'secret' + 'value1'; print(word)\nraise ValueError(word)")
            session.bash("echo secretvalue2; echo secretvalue3 >&2; exit 1")
            session.put(b"secretvalue4", "secretvalue5")
            session.get("secretvalue5")
            session.get("secretvalue6")
            session.edit("create", "secretvalue7", file_text="secretvalue8")
            self.raw("/secretvalue9?x=secretvalue10", "X-Other: secretvalue11", "Authorization: Bearer secretvalue12")
            session.delete()
            self.await_record(message="request", route="delete_session", session_id=session.id[:12])
            self.assertNotIn("secretvalue", self.server.log())
            self.assertNotIn(session.id, self.server.log())


class TextLines(Log):
    settings = {"LOG_LEVEL": "INFO"}

    def test_a_request_is_one_line_of_words_and_pairs(self):
        self.raw("/health", "X-Request-Id: findme")
        line = wait_for(lambda: [line for line in self.server.log().splitlines() if "request_id=findme" in line], 5, "line")
        self.assertEqual(len(line), 1)
        self.assertRegex(line[0], r"^\d{4}-\d\d-\d\dT[\d:.]+Z INFO request method=GET route=health status=200 duration_ms=[\d.]+ request_id=findme$")

    def test_details_are_left_out(self):
        self.assertNotIn(" DEBUG ", self.server.log())


class Levels(unittest.TestCase):
    def test_a_level_leaves_out_what_is_below(self):
        with running({"LOG_LEVEL": "WARNING"}) as server:
            with server.sandbox.create() as session:
                session.code("while True: pass", timeout=1)
            server.sandbox.health()
            log = server.log()
            self.assertNotIn(" INFO ", log)
            self.assertIn(" WARNING limit reached limit=wall_clock", log)

    def test_the_end_of_a_lost_server_is_told_by_the_warden(self):
        server = Server({"LOG_FORMAT": "json"})
        self.addCleanup(server.clean_up)
        server.wait_until_ready()
        os.kill(server.role("server"), signal.SIGKILL)
        self.assertEqual(server.process.wait(20), 1)
        lost = [json.loads(line) for line in server.log().splitlines() if "ended unexpectedly" in line]
        self.assertEqual([(record["role"], record["level"], record["signal"]) for record in lost], [("warden", "CRITICAL", 9)])

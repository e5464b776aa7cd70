# SPDX-License-Identifier: Apache-2.0
import json
import re

from .. import shapes
from ..registry import clause, equal, expect, status, succeeds

CALLS = (
    {"tool": "code_execution", "input": {"code": "print('x')"}},
    {"tool": "bash_code_execution", "input": {"command": "echo x"}},
    {"tool": "text_editor_code_execution", "input": {"command": "create", "path": "x", "file_text": "x"}},
)


@clause("Execute", "each tool kind answers the envelope with its own block type")
def envelope(sandbox):
    with sandbox.create() as session:
        for call in CALLS:
            shapes.exec_response(session.exec(call), call["tool"])


@clause("Execute", "a tool_use_id is echoed verbatim, in both places")
def id_echoed(sandbox):
    with sandbox.create() as session:
        for wanted in ("toolu_1", "x\r\nX-Evil: 1", "ünïcode ✓", "a" * 200):
            for call in CALLS[:2]:
                response = session.exec({**call, "tool_use_id": wanted})
                equal(shapes.exec_response(response, call["tool"])["tool_use_id"], wanted)
                expect("x-evil" not in response.headers, "a header was injected")


@clause("Execute", "an absent, null or empty tool_use_id is generated")
def id_generated(sandbox):
    with sandbox.create() as session:
        seen = set()
        for extra in ({}, {"tool_use_id": None}, {"tool_use_id": ""}):
            value = shapes.exec_response(session.exec({**CALLS[0], **extra}), "code_execution")
            expect(re.fullmatch("srvtoolu_[0-9a-f]{24}", value["tool_use_id"]), value["tool_use_id"])
            seen.add(value["tool_use_id"])
        equal(len(seen), 3, "different ids")


@clause("Execute", "a run that produced nothing has empty streams and return code 0")
def silent_run(sandbox):
    with sandbox.create() as session:
        value = shapes.exec_response(session.exec({"tool": "code_execution", "input": {"code": "x = 1"}}), "code_execution")
        content = value["result_block"]["content"]
        equal((content["stdout"], content["stderr"], content["return_code"], content["content"]), ("", "", 0, []))


@clause("Execute", "code that fails is a successful operation with a non-zero return code")
def failure_in_payload(sandbox):
    with sandbox.create() as session:
        result = session.code("1 / 0")
        equal((result.status, result.return_code), (200, 1))
        expect("ZeroDivisionError" in result.stderr, result)
        result = session.bash("exit 3")
        equal((result.status, result.return_code), (200, 3))


@clause("Execute", "unknown fields are ignored")
def unknown_fields(sandbox):
    with sandbox.create() as session:
        call = {"tool": "code_execution", "input": {"code": "print(1)", "cell": 4}, "trace": {"a": 1}}
        shapes.exec_response(session.exec(call), "code_execution")


@clause("Execute", "malformed requests are refused with 422 and run nothing")
def malformed(sandbox):
    with sandbox.create() as session:
        code = {"tool": "code_execution", "input": {"code": "open('ran', 'w')"}}
        for broken in (
            {}, [], None, "x", {"input": code["input"]}, {"tool": "code_execution"},
            {**code, "tool": "no_such_tool"}, {**code, "tool": 5}, {**code, "tool": None},
            {**code, "input": "text"}, {**code, "input": None}, {**code, "input": []}, {**code, "input": {}},
            {**code, "input": {"code": ""}}, {**code, "input": {"code": 5}}, {**code, "input": {"code": None}},
            {**code, "timeout_seconds": 0}, {**code, "timeout_seconds": -5}, {**code, "timeout_seconds": "soon"},
            {**code, "tool_use_id": 5},
            {"tool": "bash_code_execution", "input": {"command": ""}},
            {"tool": "bash_code_execution", "input": {"code": "touch ran"}},
            {"tool": "text_editor_code_execution", "input": {"command": "rename", "path": "a"}},
            {"tool": "text_editor_code_execution", "input": {"command": "view"}},
        ):
            shapes.error(status(session.exec(broken), 422, 400))
        equal(session.names(), [], "files made by refused calls")


@clause("Execute", "a body that is not JSON, or not declared as JSON, is refused and runs nothing")
def not_json(sandbox):
    with sandbox.create() as session:
        good = json.dumps({"tool": "code_execution", "input": {"code": "open('ran', 'w')"}}).encode()
        for body, kind in ((b"{", "application/json"), (b"", "application/json"), (good + b"x", "application/json"),
                           (good, "text/plain"), (good, "application/x-www-form-urlencoded")):
            response = sandbox.request("POST", session.target + "/exec", body, ("Content-Type: " + kind,))
            status(response, 422, 400, 415)
        equal(session.names(), [], "files made by refused calls")


@clause("Execute", "a 422 lists each problem as loc, msg and type")
def problem_list(sandbox):
    with sandbox.create() as session:
        response = session.exec({"tool": "code_execution", "input": {"code": ""}})
        detail = shapes.error(status(response, 422))
        expect(isinstance(detail, list) and {"loc", "msg", "type"} <= set(detail[0]), detail)


@clause("Execute", "200,000 characters of source are accepted and one more is refused")
def source_limit(sandbox):
    with sandbox.create() as session:
        for tool, name in (("code_execution", "code"), ("bash_code_execution", "command")):
            for character in ("#", "é"):
                text = "#" + character * 199_999
                equal(session.call(tool, {name: text}).status, 200, "%s of 200,000" % tool)
                equal(session.call(tool, {name: text + character}).status, 422, "%s of 200,001" % tool)


@clause("Execute", "an unknown session answers 404")
def unknown_session(sandbox):
    for name in ("sbx_000000000000000000000000", "nobody", "%20", "sbx_%2e%2e"):
        response = sandbox.request_json("POST", "/sessions/%s/exec" % name, CALLS[0])
        shapes.error(status(response, 404, 422))


@clause("Execute", "a timeout over the ceiling is lowered, and the value in force is reported")
def timeout_clamped(sandbox):
    with sandbox.create() as session:
        result = succeeds(session.code("print(1)", 3600))
        expect(shapes.is_int(result.field("timeout_seconds")), "timeout_seconds in", result.raw)
        expect(result.field("timeout_seconds") < 3600, result.raw)


@clause("Execute", "an absent timeout means the default")
def timeout_absent(sandbox):
    with sandbox.create() as session:
        succeeds(session.code("print(1)"), "1")


@clause("Execute", "calls of one session run one after another in arrival order", slow=True)
def in_order(sandbox):
    import threading
    import time

    with sandbox.create() as session:
        session.code("seen = []")
        threads = []
        for number in range(5):
            source = "import time; time.sleep(0.2); seen.append(%d)" % number
            threads.append(threading.Thread(target=session.code, args=(source, 30)))
            threads[-1].start()
            time.sleep(0.05)
        for thread in threads:
            thread.join()
        succeeds(session.code("print(seen)"), "[0, 1, 2, 3, 4]")

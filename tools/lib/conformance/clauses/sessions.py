# SPDX-License-Identifier: Apache-2.0
import re
import time

from .. import shapes
from ..registry import clause, equal, expect, status


@clause("CreateSession", "a request without a body leases a session")
def no_body(sandbox):
    response = status(sandbox.request("POST", "/sessions"), 201)
    sandbox.request("DELETE", "/sessions/" + shapes.handle(response)["session_id"])


@clause("CreateSession", "null, an empty object and unknown fields lease a session")
def tolerant_body(sandbox):
    for body in (None, {}, {"colour": "blue", "nested": {"a": [1]}}, {"idle_timeout_seconds": None}):
        response = status(sandbox.request_json("POST", "/sessions", body), 201)
        sandbox.request("DELETE", "/sessions/" + shapes.handle(response)["session_id"])


@clause("CreateSession", "an image hint never fails the request")
def image_hint(sandbox):
    for image in ("python:3.12", "no/such-image:latest", "", None):
        response = status(sandbox.request_json("POST", "/sessions", {"image": image}), 201)
        sandbox.request("DELETE", "/sessions/" + shapes.handle(response)["session_id"])


@clause("CreateSession", "the id is sbx_ and at least 24 hex digits, and never the same twice")
def id_form(sandbox):
    ids = set()
    for _ in range(8):
        with sandbox.create() as session:
            expect(re.fullmatch("sbx_[0-9a-f]{24,60}", session.id), "id", session.id)
            ids.add(session.id)
    equal(len(ids), 8, "different ids")


@clause("CreateSession", "hints are in force as reported")
def hints_reported(sandbox):
    with sandbox.create(idle_timeout_seconds=77, max_lifetime_seconds=99) as session:
        equal(session.handle["idle_timeout_seconds"], 77)
        equal(session.handle["max_lifetime_seconds"], 99)


@clause("CreateSession", "a lifetime over the maximum is lowered to it and reported, not refused")
def hints_clamped(sandbox):
    with sandbox.create() as plain:
        ceiling = plain.handle["max_lifetime_seconds"]
    for name in ("idle_timeout_seconds", "max_lifetime_seconds"):
        for value in (ceiling + 1, 10**9, 10**15):
            response = status(sandbox.request_json("POST", "/sessions", {name: value}), 201)
            handle = shapes.handle(response)
            sandbox.request("DELETE", "/sessions/" + handle["session_id"])
            expect(handle[name] <= ceiling, name, "is", handle[name], "over", ceiling)


@clause("CreateSession", "malformed hints and bodies are refused with 422")
def malformed(sandbox):
    for name in ("idle_timeout_seconds", "max_lifetime_seconds"):
        for value in (0, -1, 1.5, "soon", [], True and {"a": 1}):
            shapes.error(status(sandbox.request_json("POST", "/sessions", {name: value}), 422))
    json_type = ("Content-Type: application/json",)
    for body in (b"[]", b'"text"', b"7", b"{", b"{}{}", b"\xff", b"{'a': 1}"):
        shapes.error(status(sandbox.request("POST", "/sessions", body, json_type), 422, 400))


@clause("CreateSession", "only application/json bodies are read as JSON")
def media_type(sandbox):
    for kind in ("text/plain", "application/x-www-form-urlencoded"):
        headers = ("Content-Type: " + kind,)
        status(sandbox.request("POST", "/sessions", b'{"idle_timeout_seconds": 50}', headers), 422, 415)


@clause("CreateSession", "times are POSIX seconds of now, with a fraction")
def times(sandbox):
    before = time.time()
    with sandbox.create() as session:
        expect(before - 5 <= session.handle["created_at"] <= time.time() + 5, session.handle)
        expect(isinstance(session.handle["created_at"], float), session.handle)


@clause("GET session", "the handle is readable and its activity moves with every call")
def handle_readable(sandbox):
    with sandbox.create() as session:
        first = shapes.handle(status(session.info(), 200))
        for name in ("session_id", "created_at", "idle_timeout_seconds", "max_lifetime_seconds"):
            equal(first[name], session.handle[name], name)
        time.sleep(0.05)
        session.code("1")
        second = shapes.handle(status(session.info(), 200))
        expect(second["last_activity_at"] > first["last_activity_at"], first, second)


@clause("DestroySession", "answers 204 without a body, also for an unknown or released session")
def destroy(sandbox):
    session = sandbox.create()
    for _ in range(2):
        response = status(session.delete(), 204)
        equal(response.body, b"", "body")
    status(sandbox.request("DELETE", "/sessions/sbx_000000000000000000000000"), 204)


@clause("DestroySession", "afterwards every operation on the id answers 404")
def gone(sandbox):
    session = sandbox.create()
    session.put(b"x", "f")
    session.delete()
    exec_body = {"tool": "code_execution", "input": {"code": "1"}}
    for response in (session.exec(exec_body), session.info(), session.list(), session.get("f"),
                     session.put(b"x", "f")):
        shapes.error(status(response, 404))


@clause("DestroySession", "ends a running call, which still answers", slow=True)
def destroy_running(sandbox):
    import threading

    session = sandbox.create()
    answers = []
    caller = threading.Thread(target=lambda: answers.append(session.code("import time; time.sleep(30)", 60)))
    caller.start()
    time.sleep(1)
    start = time.monotonic()
    status(session.delete(), 204)
    caller.join(10)
    expect(time.monotonic() - start < 5, "the call outlived the session")
    expect(answers and answers[0].status in (200, 404, 410), answers)
    expect(answers[0].status != 200 or answers[0].return_code != 0, answers)


@clause("health", "says ok and counts sessions")
def health(sandbox):
    before = sandbox.health()
    equal(before["status"], "ok")
    expect(shapes.is_int(before["max_sessions"]), before)
    with sandbox.create():
        expect(sandbox.health()["session_count"] >= 1, sandbox.health())


@clause("routes", "an unknown route answers 404 and a wrong method 405, with a detail")
def routes(sandbox):
    shapes.error(status(sandbox.request("GET", "/nowhere"), 404))
    shapes.error(status(sandbox.request("POST", "/health", b""), 405))
    shapes.error(status(sandbox.request("PUT", "/sessions", b"{}"), 405))


@clause("routes", "the OpenAPI document is served as JSON")
def openapi(sandbox):
    document = shapes.json_body(status(sandbox.request("GET", "/openapi.json"), 200))
    expect("/sessions" in document["paths"], sorted(document["paths"]))


@clause("routes", "no answer allows another origin")
def no_cors(sandbox):
    for headers in ((), ("Origin: https://example.org",)):
        response = sandbox.request("GET", "/health", None, headers)
        expect(not any(h.startswith("access-control") for h in response.headers), response.headers)

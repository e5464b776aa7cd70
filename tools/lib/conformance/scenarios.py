# SPDX-License-Identifier: Apache-2.0
"""The requests that tools/conformance --compare sends to both backends, with the agreed differences."""

import dataclasses
import json

JSON = ("Content-Type: application/json",)
SCENARIOS = []


@dataclasses.dataclass(frozen=True)
class Step:
    kind: str
    args: tuple
    agreed: str = ""  # why the answers may differ; empty: they must be alike

    def __str__(self):
        text = "%s %s" % (self.kind, " ".join(repr(a) for a in self.args if a not in ({}, None)))
        return text if len(text) < 160 else text[:150] + " …"


def code(source, agreed="", **extra):
    return Step("code", (source, extra), agreed)


def bash(command, agreed="", **extra):
    return Step("bash", (command, extra), agreed)


def edit(agreed="", **fields):
    return Step("edit", (fields,), agreed)


def call(body, agreed=""):
    return Step("exec", (body,), agreed)


def put(data, path=None, filename="upload.bin", agreed=""):
    return Step("put", (data, path, filename), agreed)


def get(path, agreed=""):
    return Step("get", (path,), agreed)


def listing(path=None, agreed=""):
    return Step("list", (path,), agreed)


def raw(method, target, body=None, headers=(), agreed=""):
    return Step("raw", (method, target, body, headers), agreed)


def post_json(target, value, agreed=""):
    return raw("POST", target, json.dumps(value).encode(), JSON, agreed)


def scenario(name, *steps):
    SCENARIOS.append((name, steps))


PRODUCED = "produced files are listed"
SAME_PLACE = "an absolute path below /workspace is the same place"
TRACEBACK = "source lines are shown, the driver's frames are not"
CAUGHT = "output of subprocesses, C code and descriptors is caught"
CLAMP = "clamped and reported instead of refused"
NOTICE = "stderr says what happened to the variables"
DISARMED = "what a browser would run is served as bytes"
HEALTH = "a separate number of pooled jails"

scenario("sessions",
         post_json("/sessions", {"idle_timeout_seconds": 60, "max_lifetime_seconds": 100}),
         post_json("/sessions", {}), post_json("/sessions", None), raw("POST", "/sessions"),
         post_json("/sessions", {"unknown": 1}), post_json("/sessions", {"image": "x"}),
         *[post_json("/sessions", {"idle_timeout_seconds": bad}) for bad in (0, -1, 1.5, "x", [])],
         *[post_json("/sessions", bad) for bad in ([], "x", 3)],
         post_json("/sessions", {"idle_timeout_seconds": 7201}, CLAMP),
         post_json("/sessions", {"max_lifetime_seconds": 10**6}, CLAMP),
         raw("POST", "/sessions", b"{", JSON), raw("POST", "/sessions", b"{}", ("Content-Type: text/plain",)),
         Step("info", ()), raw("GET", "/sessions/unknown"), raw("DELETE", "/sessions/unknown"),
         Step("delete", ()), Step("delete", ()), Step("info", ()), listing(), get("x"), put(b"x", "x"),
         call({"tool": "code_execution", "input": {"code": "1"}}))

scenario("routes", raw("GET", "/health", agreed=HEALTH), raw("GET", "/nowhere"), raw("POST", "/health", b""),
         raw("PUT", "/sessions", b""), raw("PATCH", "/sessions/{id}", b""), raw("GET", "/sessions/{id}/exec"),
         raw("GET", "/sessions/{id}/files"), raw("GET", "/sessions/{id}/files?path="))

scenario("requests",
         *[call(bad) for bad in (
             {}, [], None, {"tool": "code_execution"}, {"tool": "nope", "input": {}}, {"tool": 3, "input": {}},
             {"tool": "code_execution", "input": "x"}, {"tool": "code_execution", "input": {}},
             {"tool": "code_execution", "input": {"code": ""}}, {"tool": "code_execution", "input": {"code": 3}},
             {"tool": "code_execution", "input": {"code": "#" * 200_001}},
             {"tool": "bash_code_execution", "input": {"command": ""}},
             {"tool": "text_editor_code_execution", "input": {"command": "rename", "path": "x"}},
             {"tool": "text_editor_code_execution", "input": {"command": "view"}},
             {"tool": "code_execution", "input": {"code": "1"}, "tool_use_id": 3})],
         *[code("print(1)", timeout_seconds=bad) for bad in (0, -1, "soon", 1.5, [])],
         code("print(1)", timeout_seconds=120), code("print(1)", CLAMP, timeout_seconds=121),
         code("print(1)", tool_use_id="mine"), code("print(1)", tool_use_id=""), code("print(1)", tool_use_id=None))

scenario("python",
         code("x = 1"), code("print(x)"), code("print('a\\n\\n')"), code("print('e', end='')"), code("x"),
         code("import sys; print('err', file=sys.stderr)"), code("import sys; sys.exit(3)"),
         code("import sys; sys.exit()"), code("import sys; sys.exit('text')", "the text of sys.exit is kept"),
         code("1/0", TRACEBACK), code("def f(:", TRACEBACK), code("raise KeyboardInterrupt", TRACEBACK),
         code("print('é' * 1000)"), code("print('\\x00\\x1b[2J')"), code("print(x)"),
         code("import os; os.system('echo sub')", CAUGHT), code("import os; os.write(2, b'raw')", CAUGHT),
         code("print(input())", "standard input is empty", timeout_seconds=2),
         code("import os; os._exit(7)", "the interpreter's own exit status is reported"), code("print('x' in globals())"),
         code("print('early', flush=True); import time; time.sleep(9)", "partial output and a notice", timeout_seconds=1))

scenario("python files", code("open('a.txt', 'w').write('1')", PRODUCED), code("print(open('a.txt').read())"),
         bash("cat a.txt"), listing(), get("a.txt"))

scenario("output at the cap", code("print('a' * 1048576)"), bash("head -c 1048576 /dev/zero | tr '\\0' b"),
         code("print('a' * 2000000)", "head and tail are kept"), code("print('next')"))

scenario("bash",
         bash("echo a; echo b >&2; exit 5"), bash("printf x"), bash("cd /; export Q=1"), bash("echo [$Q]"),
         bash("kill -9 $$"), bash("kill -15 $$"), bash("no-such-command"), bash("read x; echo [$x]"),
         bash("echo $((1+1)); pwd | wc -l"), bash("if"), bash("echo é; printf '\\377'"),
         bash("echo early; sleep 9", "partial output and a notice", timeout_seconds=1),
         bash("sleep 3 & echo now", "the call ends when its shell ends", timeout_seconds=1))

scenario("editor",
         edit(command="create", path="a/b.txt", file_text="one\ntwo\nthree\n", agreed=PRODUCED),
         edit(command="create", path="a/b.txt", file_text="x"), edit(command="create", path="n"),
         edit(command="view", path="a/b.txt"), edit(command="view", path="a/b.txt", view_range=[2, 3]),
         edit(command="view", path="a/b.txt", view_range=[2, -1]), edit(command="view", path="."),
         edit(command="view", path="a"), edit(command="view", path="missing"),
         edit(command="str_replace", path="a/b.txt", old_str="two", new_str="2", agreed=PRODUCED),
         edit(command="str_replace", path="a/b.txt", old_str="zzz", new_str="2"),
         edit(command="str_replace", path="a/b.txt", old_str="e", new_str="2"),
         edit(command="str_replace", path="missing", old_str="e", new_str="2"),
         edit(command="str_replace", path="a/b.txt", new_str="2"), edit(command="str_replace", path="a/b.txt", old_str="2"),
         edit(command="insert", path="a/b.txt", insert_line=0, new_str="top", agreed=PRODUCED),
         edit(command="insert", path="a/b.txt", insert_line=2, new_str="mid\n", agreed=PRODUCED),
         edit(command="insert", path="a/b.txt", insert_line=99, new_str="x"),
         edit(command="insert", path="a/b.txt", insert_line=-1, new_str="x"), edit(command="insert", path="a/b.txt", new_str="x"),
         get("a/b.txt"),
         *[edit(command="undo_edit", path="a/b.txt", agreed=PRODUCED) for _ in range(3)], get("a/b.txt"),
         edit(command="undo_edit", path="other"), edit(command="view", path="../../etc/passwd"),
         edit(command="create", path="../x", file_text="x"), edit(command="view", path="/etc/passwd"),
         edit(command="create", path="/workspace/abs", file_text="x", agreed=SAME_PLACE))

scenario("editor and line ends", put(b"a\r\nb\r\n", "crlf"),
         edit(command="str_replace", path="crlf", old_str="b", new_str="c", agreed=PRODUCED),
         get("crlf", "bytes outside the edit stay what they are"))

scenario("files",
         put(b"1,2\n", "d/e.csv"), put(b"x", None, "named.txt"), put(b"x", "", "named2.txt"), put(b"", "empty"),
         put(None, "nofile"), put(b"x", "../out"), put(b"x", "/etc/out"), put(b"x", "/workspace/abs", agreed=SAME_PLACE),
         put(b"x", "d", agreed="a directory is a client's error"), get("d/e.csv"), get("named.txt"), get("empty"), get("d"), get("missing"),
         get("../out"), get("/etc/passwd"), get("d/../named.txt"), listing(agreed=SAME_PLACE), listing("d"), listing("d/e.csv"),
         listing("missing"), listing("../"), listing("/etc"), put(b"p", "i.png"), get("i.png"), put(b"p", "j.json"), get("j.json"),
         put(b"p", "k.txt"), get("k.txt"), put(b"p", "l.html"), get("l.html", DISARMED), put(b"p", "m.svg"), get("m.svg", DISARMED),
         put(b"p", "n.py"), get("n.py"), put(b"p", "o.parquet"), get("o.parquet", "more names have a type"), put(b"p", "p.pdf"), get("p.pdf"))

scenario("files and links", bash("ln -s /etc/passwd l; ln -s / r; mkdir d; ln -s d k; touch d/f", PRODUCED),
         get("l"), get("r/etc/passwd"), get("k/f"), listing("k", "a directory behind a link is named as asked or as resolved"), listing("r"),
         put(b"x", "r/tmp/x"), put(b"x", "l"))

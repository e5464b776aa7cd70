# SPDX-License-Identifier: Apache-2.0
import random

from .. import shapes
from ..registry import clause, equal, expect, status

OUTSIDE = ("../../etc/passwd", "/etc/passwd", "a/../../b", "//etc/passwd", "..", "/", "/workspace/../etc/passwd",
           "../../../../../../proc/self/environ")


@clause("PutFile", "stores the bytes under the given path, making its parents")
def put(sandbox):
    data = random.Random(7).randbytes(300_000)
    with sandbox.create() as session:
        shapes.upload(session.put(data, "deep/er/x.bin"), "deep/er/x.bin", len(data))
        equal(bytes(session.get("deep/er/x.bin").body), data, "downloaded bytes")
        shapes.upload(session.put(b"", "empty"), "empty", 0)
        shapes.upload(session.put(b"new", "empty"), "empty", 3)


@clause("PutFile", "without a path the file's own name is used")
def put_named(sandbox):
    with sandbox.create() as session:
        shapes.upload(session.put(b"1", None, "own name.txt"), "own name.txt", 1)
        equal(session.names(), ["own name.txt"])


@clause("PutFile", "names are literal: shell text, spaces and other scripts stay what they are")
def literal_names(sandbox):
    with sandbox.create() as session:
        for name in ("a;touch pwned", "$(id)", "`id`", "p löt.png", "日本語.txt", "%2e%2e", "a b  c", "-rf"):
            shapes.upload(session.put(b"x", name), name, 1)
            equal(bytes(session.get(name).body), b"x", name)
        expect("pwned" not in session.names(), session.names())


@clause("PutFile", "a path outside the workspace is refused with 403 and writes nothing")
def put_outside(sandbox):
    with sandbox.create() as session:
        session.bash("ln -s / root; ln -s ../../../../tmp/made-by-upload dangling; mkdir d; ln -s d inside")
        for path in OUTSIDE + ("root/tmp/evil", "dangling"):
            shapes.error(status(session.put(b"x", path), 403, 400))
        status(session.put(b"x", "inside/f"), 201)
        equal(session.names("d"), ["d/f"])


@clause("PutFile", "a request without a file is refused with 422, a target that is a directory with 4xx")
def put_malformed(sandbox):
    with sandbox.create() as session:
        shapes.error(status(session.put(None, "x"), 422))
        session.bash("mkdir d")
        response = session.put(b"x", "d")
        expect(400 <= response.status < 500, response)
        equal(session.names(), [], "files made by refused uploads")


@clause("PutFile", "100 MiB are stored and one byte more answers 413 and leaves nothing", slow=True)
def put_limit(sandbox):
    with sandbox.create() as session:
        data = bytes(100 << 20)
        shapes.upload(session.put(data, "most"), "most", len(data))
        response = sandbox.new_connection()
        with response:
            from sandboxclient.sandbox import multipart
            body, kind = multipart(data + b"x", "more")
            try:
                answer = response.request("POST", sandbox.prefix + session.target + "/files", body, (kind,))
            except OSError:
                answer = response.read_response() if response.sock else None
        expect(answer is not None, "the connection broke before the answer")
        shapes.error(status(answer, 413))
        equal(session.names(), ["most"])


@clause("GetFile", "gives the bytes with a media type guessed from the name")
def media_types(sandbox):
    with sandbox.create() as session:
        for name, kind in (("t.csv", "text/csv"), ("p.png", "image/png"), ("x.unknownext", "application/octet-stream"),
                           ("noext", "application/octet-stream")):
            session.put(b"data", name)
            response = status(session.get(name), 200)
            equal(response.headers["content-type"].split(";")[0], kind, name)
            equal(bytes(response.body), b"data")


@clause("GetFile", "a directory answers 400, outside 403, missing 404, no path 422")
def get_refused(sandbox):
    with sandbox.create() as session:
        session.bash("mkdir d; ln -s /etc/passwd link; ln -s . self; ln -s / root; ln -s nowhere dangling")
        shapes.error(status(session.get("d"), 400))
        shapes.error(status(session.get("missing"), 404))
        shapes.error(status(session.get("d/missing/x"), 404))
        for path in OUTSIDE + ("link", "root/etc/passwd", "self/self/link"):
            response = status(session.get(path), 403, 400)
            expect(b"root:x" not in response.body, path)
        status(session.get("dangling"), 403, 404)
        shapes.error(status(sandbox.request("GET", session.target + "/files"), 422))
        for bad in ("", "x\0y", "a" * 5000, "/".join(["x"] * 3000)):
            shapes.error(status(session.get(bad), 400, 403, 404, 414, 422))


@clause("GetFile", "a path is decoded exactly once")
def decoded_once(sandbox):
    with sandbox.create() as session:
        for target in ("%2e%2e%2f%2e%2e%2fetc%2fpasswd", "..%252f..%252fetc%252fpasswd", "%252e%252e/%252e%252e/etc/passwd"):
            response = sandbox.request("GET", session.target + "/files?path=" + target)
            status(response, 403, 404)
        session.put(b"literal", "%41")
        equal(bytes(session.get("%41").body), b"literal")


@clause("GetFile", "a FIFO, a socket and other special files are refused at once")
def special_files(sandbox):
    with sandbox.create() as session:
        session.bash("mkfifo fifo; python3 -c \"import socket; socket.socket(socket.AF_UNIX).bind('sock')\"")
        for name in ("fifo", "sock"):
            expect(400 <= session.get(name).status < 500, name)
            expect(400 <= session.put(b"x", name).status < 500 or name == "sock", name)
            expect(name not in session.names(), "listed")


@clause("ListFiles", "lists the regular files of a directory, sorted, with sizes and types")
def listing(sandbox):
    with sandbox.create() as session:
        equal(shapes.file_list(session.list()), [], "a fresh workspace")
        for name in ("b.csv", "a.txt", "sub/c.png"):
            session.put(b"12345", name)
        entries = shapes.file_list(session.list())
        equal([(e["path"], e["size_bytes"]) for e in entries], [("a.txt", 5), ("b.csv", 5)])
        equal(entries[1]["mime_type"], "text/csv")
        equal([e["path"] for e in shapes.file_list(session.list("sub"))], ["sub/c.png"])
        equal([e["path"] for e in shapes.file_list(session.list("a.txt"))], ["a.txt"], "a file's own path")
        equal(shapes.file_list(session.list(".")), entries, "the default path")


@clause("ListFiles", "outside answers 403 and missing 404")
def listing_refused(sandbox):
    with sandbox.create() as session:
        session.bash("ln -s / root")
        for path in OUTSIDE + ("root", "root/etc"):
            shapes.error(status(session.list(path), 403, 400))
        shapes.error(status(session.list("missing"), 404))
        status(session.list("--help"), 404)


@clause("ListFiles", "an unknown session answers 404, which is how a held session is found to be gone")
def listing_unknown(sandbox):
    shapes.error(status(sandbox.request("GET", "/sessions/sbx_ffffffffffffffffffffffff/files/list"), 404))


@clause("file operations", "an absolute path below /workspace is the same place")
def absolute(sandbox):
    with sandbox.create() as session:
        status(session.put(b"x", "/workspace/abs.txt"), 201)
        equal(bytes(status(session.get("/workspace/abs.txt"), 200).body), b"x")
        equal(session.names("/workspace"), ["abs.txt"])


@clause("file references", "a call lists exactly the files it made or changed, each of which can be fetched")
def references(sandbox):
    with sandbox.create() as session:
        session.put(b"a,b\n", "in.csv")
        made = session.code("import os\nopen('report.txt', 'w').write('v1')\nos.makedirs('out/deep')\n"
                            "open('out/deep/p löt.png', 'wb').write(b'PNG')\nopen('.hidden', 'w').write('x')")
        equal(sorted(made.files), ["out/deep/p löt.png", "report.txt"])
        equal(bytes(session.get("out/deep/p löt.png").body), b"PNG")
        equal(session.code("print(1)").files, [])
        equal(session.code("open('report.txt', 'w').write('v2')").files, ["report.txt"])
        equal(sorted(session.bash("cp report.txt copy.txt; touch out/new.txt").files), ["copy.txt", "out/new.txt"])

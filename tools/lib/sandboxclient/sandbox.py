# SPDX-License-Identifier: Apache-2.0
"""Sessions, the three tools and the file routes, as a client of the contract sees them."""

import json
import threading
import time
from urllib.parse import quote, urlsplit

from .connection import Connection

JSON_TYPE = "Content-Type: application/json"


class Result:
    """The outcome of one tool call; `wall` is the client's own clock, in seconds."""

    def __init__(self, response, wall):
        self.status, self.wall = response.status, wall
        self.raw = response.json() if response.status == 200 else None
        content = self.raw["result_block"]["content"] if self.raw else {}
        self.stdout = content.get("stdout") or ""
        self.stderr = content.get("stderr") or ""
        self.return_code = content.get("return_code", 0)
        self.files = [entry["filename"] for entry in content.get("content") or []]
        self.body = bytes(response.body)

    def field(self, name, default=None):
        """An additive field of the exec response."""
        return (self.raw or {}).get(name, default)

    def __repr__(self):
        if self.raw is None:
            return "<Result %d %r>" % (self.status, self.body[:300])
        return "<Result rc=%r %.2fs out=%r err=%r>" % (
            self.return_code, self.wall, self.stdout[:300], self.stderr[:600])


class Sandbox:
    """A backend by its base URL. Each thread has a connection of its own."""

    def __init__(self, base_url, timeout=150.0):
        url = urlsplit(base_url if "//" in base_url else "http://" + base_url)
        self.host, self.port = url.hostname, url.port or 80
        self.prefix = url.path.rstrip("/")
        self.timeout = timeout
        self.local = threading.local()

    def new_connection(self, timeout=None):
        return Connection(self.host, self.port, timeout or self.timeout)

    @property
    def connection(self):
        if not hasattr(self.local, "connection"):
            self.local.connection = self.new_connection()
        return self.local.connection

    def request(self, method, target, body=None, headers=()):
        return self.connection.request(method, self.prefix + target, body, headers)

    def request_json(self, method, target, value):
        return self.request(method, target, json.dumps(value).encode(), (JSON_TYPE,))

    def health(self):
        return self.request("GET", "/health").json()

    def create(self, **hints):
        """A new session. Throws when the backend refuses."""
        response = self.request_json("POST", "/sessions", hints)
        if response.status != 201:
            raise RuntimeError("POST /sessions answered %r" % response)
        return Session(self, response.json())


class Session:
    """A leased session; as a context manager it is released at the end."""

    def __init__(self, sandbox, handle):
        self.sandbox, self.handle = sandbox, handle
        self.id = handle["session_id"]
        self.target = "/sessions/" + self.id

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.delete()

    def exec(self, body):
        """POST exec with a ready body (anything that JSON can express). Gives the Response."""
        return self.sandbox.request_json("POST", self.target + "/exec", body)

    def call(self, tool, fields, timeout=None, **extra):
        body = {"tool": tool, "input": fields, **extra}
        if timeout is not None:
            body["timeout_seconds"] = timeout
        start = time.monotonic()
        response = self.exec(body)
        return Result(response, time.monotonic() - start)

    def code(self, source, timeout=None, **extra):
        return self.call("code_execution", {"code": source}, timeout, **extra)

    def bash(self, command, timeout=None, **extra):
        return self.call("bash_code_execution", {"command": command}, timeout, **extra)

    def edit(self, command, path, **fields):
        return self.call("text_editor_code_execution", {"command": command, "path": path, **fields})

    def get(self, path):
        return self.sandbox.request("GET", self.target + "/files?path=" + quote(path, safe=""))

    def list(self, path=None):
        query = "" if path is None else "?path=" + quote(path, safe="")
        return self.sandbox.request("GET", self.target + "/files/list" + query)

    def names(self, path=None):
        response = self.list(path)
        return [entry["path"] for entry in response.json()["files"]] if response.status == 200 else None

    def put(self, data, path=None, filename="upload.bin"):
        body, content_type = multipart(data, path, filename)
        return self.sandbox.request("POST", self.target + "/files", body, (content_type,))

    def info(self):
        return self.sandbox.request("GET", self.target)

    def delete(self):
        return self.sandbox.request("DELETE", self.target)


def multipart(data, path=None, filename="upload.bin", boundary="----boundary7f3a9c"):
    """(body, Content-Type line) of an upload. A name is sent as the UTF-8 bytes it is."""
    mark = b"--" + boundary.encode()
    parts = []
    if path is not None:
        parts.append(mark + b'\r\nContent-Disposition: form-data; name="path"\r\n\r\n' + path.encode("utf-8", "surrogateescape") + b"\r\n")
    if data is not None:
        name = filename.encode("utf-8", "surrogateescape")
        parts.append(mark + b'\r\nContent-Disposition: form-data; name="file"; filename="' + name +
                     b'"\r\nContent-Type: application/octet-stream\r\n\r\n')
        parts.append(bytes(data))
        parts.append(b"\r\n")
    parts.append(mark + b"--\r\n")
    return b"".join(parts), "Content-Type: multipart/form-data; boundary=" + boundary

# SPDX-License-Identifier: Apache-2.0
"""One HTTP/1.1 keep-alive connection: one send a request, one receive loop a response."""

import select
import socket


class BrokenResponse(OSError):
    """The peer closed or sent something that is not a complete HTTP response."""


class Response:
    """Status, headers (names in lower case, repeated ones joined by ', ') and body of one answer."""

    __slots__ = ("status", "headers", "body", "close", "head")

    def __init__(self, status, headers, body, close, head):
        self.status, self.headers, self.body, self.close, self.head = status, headers, body, close, head

    def json(self):
        import json

        return json.loads(self.body)

    def __repr__(self):
        return "<%d %r>" % (self.status, bytes(self.body[:200]))


def parse_head(head):
    """(status, headers, close) of the bytes before the blank line. Throws BrokenResponse."""
    lines = head.split(b"\r\n")
    parts = lines[0].split(b" ", 2)
    if len(parts) < 2 or not parts[0].startswith(b"HTTP/1.") or not parts[1].isdigit():
        raise BrokenResponse("bad status line %r" % lines[0][:100])
    headers = {}
    for line in lines[1:]:
        name, colon, value = line.partition(b":")
        if not colon:
            raise BrokenResponse("bad header line %r" % line[:100])
        key = name.decode("latin-1").lower()
        text = value.strip().decode("latin-1")
        headers[key] = headers[key] + ", " + text if key in headers else text
    close = parts[0] == b"HTTP/1.0" or "close" in headers.get("connection", "").lower()
    return int(parts[1]), headers, close


class Connection:
    """Connects at the first request and again after the peer closed between two requests."""

    # Called with (method, target, Response) of every request() of every connection; for tests.
    observer = None

    def __init__(self, host, port, timeout=90.0):
        self.host, self.port, self.timeout = host, port, timeout
        self.sock = None
        self.buffer = b""
        self.reused = b""  # a bytearray that long bodies are read into, for who keeps none of them
        host_text = "[%s]" % host if ":" in host else host
        self.host_line = ("Host: %s:%d\r\n" % (host_text, port)).encode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def open(self):
        self.sock = socket.create_connection((self.host, self.port), timeout=self.timeout)
        self.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __del__(self):
        self.close()

    def close(self):
        if self.sock is not None:
            self.sock.close()
            self.sock = None

    def head(self, method, target, length, headers=()):
        """The request's head as bytes; `headers` is a sequence of ready lines without line ends."""
        lines = "".join(h + "\r\n" for h in headers)
        size = "Content-Length: %d\r\n" % length if length is not None else ""
        return ("%s %s HTTP/1.1\r\n" % (method, target)).encode() + self.host_line + (size + lines + "\r\n").encode()

    def request(self, method, target, body=None, headers=()):
        self.ensure_open()
        length = None if body is None and method in ("GET", "DELETE", "HEAD") else len(body or b"")
        head = self.head(method, target, length, headers)
        if body is not None and len(body) > 65536:
            self.send_long(head, body)
        else:
            self.sock.sendall(head + (body or b""))
        response = self.read_response(method)
        if Connection.observer is not None:
            Connection.observer(method, target, response)
        return response

    def send_long(self, head, body):
        """Sends until the peer, which may refuse early, stops reading; its answer is read afterwards."""
        try:
            self.sock.sendall(head)
            self.sock.sendall(body)
        except (BrokenPipeError, ConnectionResetError):
            pass

    def ensure_open(self):
        if self.sock is not None and select.select([self.sock], [], [], 0)[0]:
            self.close()
        if self.sock is None:
            self.open()

    def send(self, data):
        """Raw bytes, for prepared and for hostile requests."""
        if self.sock is None:
            self.open()
        self.sock.sendall(data)

    def receive(self):
        data = self.sock.recv(262144)
        if not data:
            raise BrokenResponse("closed by the peer")
        return data

    def read_response(self, method="GET"):
        try:
            return self._read_response(method)
        except OSError:
            self.close()
            raise

    def _read_response(self, method):
        buffer = self.buffer
        end = buffer.find(b"\r\n\r\n")
        while end < 0:
            buffer += self.receive()
            end = buffer.find(b"\r\n\r\n")
        head, rest = buffer[:end], buffer[end + 4:]
        status, headers, close = parse_head(head)
        if 100 <= status < 200:
            self.buffer = rest
            return self._read_response(method)
        body = self._read_body(method, status, headers, rest)
        if close:
            self.close()
        return Response(status, headers, body, close, head)

    def _read_body(self, method, status, headers, rest):
        if method == "HEAD" or status in (204, 304):
            self.buffer = rest
            return b""
        if "chunked" in headers.get("transfer-encoding", "").lower():
            return self._read_chunks(rest)
        if "content-length" not in headers:
            while True:
                data = self.sock.recv(262144)
                if not data:
                    self.close()
                    return rest
                rest += data
        length = int(headers["content-length"])
        if len(rest) >= length:
            self.buffer = rest[length:]
            return rest[:length]
        reused = len(self.reused) >= length
        body = memoryview(self.reused)[:length] if reused else bytearray(length)
        body[:len(rest)] = rest
        view, filled = memoryview(body), len(rest)
        while filled < length:
            count = self.sock.recv_into(view[filled:])
            if count == 0:
                raise BrokenResponse("closed after %d of %d bytes" % (filled, length))
            filled += count
        self.buffer = b""
        return body if reused or length > 1 << 20 else bytes(body)

    def _read_chunks(self, rest):
        body = bytearray()
        while True:
            while b"\r\n" not in rest:
                rest += self.receive()
            line, _, rest = rest.partition(b"\r\n")
            size = int(line.split(b";")[0], 16)
            while len(rest) < size + 2:
                rest += self.receive()
            if size == 0:
                self.buffer = rest[2:]
                return bytes(body)
            body += rest[:size]
            rest = rest[size + 2:]

# SPDX-License-Identifier: Apache-2.0
"""What is measured. Each measure is a class: prepare once, then `sample` gives one figure, then finish."""

import json
import time

from sandboxclient.sandbox import JSON_TYPE, multipart

MB = 1_000_000


class Measure:
    """Unit "ms" (less is better) or a rate such as "MB/s" (more is better). `floor`: which backend of floors.py has it, if one does."""

    unit, rounds, per_round, floor = "ms", 40, 10, None
    memory = None

    def __init__(self, sandbox):
        self.sandbox = sandbox
        self.connection = sandbox.new_connection()

    def prepare(self):
        self.session = self.sandbox.create()

    def finish(self):
        self.session.delete()

    def reuse_memory(self):
        """Long bodies are read into the same memory each time: a fresh one would take as long as the transfer. And one for all
        backends, as not every such memory is as fast, by the size of its pages."""
        Measure.memory = self.connection.reused = Measure.memory or bytearray(100 * MB)

    def request(self, method, target, value=None):
        """The request's bytes, made once."""
        body = b"" if value is None else json.dumps(value).encode()
        return self.connection.head(method, target, len(body), (JSON_TYPE,)) + body

    def ask(self, request, method="POST"):
        self.connection.send(request)
        return self.connection.read_response(method)

    def timed(self, action):
        start = time.perf_counter()
        response = action()
        elapsed = (time.perf_counter() - start) * 1000
        if response is not None and response.status >= 300:
            raise RuntimeError("%s: %r" % (type(self).__name__, response))
        return elapsed

    def exec_request(self, tool, fields):
        return self.request("POST", self.session.target + "/exec", {"tool": tool, "input": fields, "timeout_seconds": 60})


class Repeated(Measure):
    """The same request again and again."""

    def sample(self):
        return self.timed(lambda: self.ask(self.ready))


class Call(Repeated):
    name = "call"
    floor = "calls"
    rounds, per_round = 60, 20

    def prepare(self):
        super().prepare()
        self.ready = self.exec_request("code_execution", {"code": "1"})
        self.ask(self.ready)


class Bash(Repeated):
    name = "bash true"
    floor = "calls"

    def prepare(self):
        super().prepare()
        self.ready = self.exec_request("bash_code_execution", {"command": "true"})


class Print900k(Repeated):
    name = "print 900 kB"
    floor = "calls"
    rounds, per_round = 15, 4

    def prepare(self):
        super().prepare()
        self.ready = self.exec_request("code_execution", {"code": "print('x' * 900_000)"})
        self.reuse_memory()


class EditorCreate(Measure):
    name = "editor create"

    def prepare(self):
        super().prepare()
        self.number = 0

    def sample(self):
        self.number += 1
        request = self.exec_request("text_editor_code_execution", {"command": "create", "path": "f%d" % self.number, "file_text": "x" * 100})
        return self.timed(lambda: self.ask(request))


class List100(Measure):
    name = "list 100 files"

    def prepare(self):
        super().prepare()
        self.session.code("for i in range(100): open('f%d.txt' % i, 'w').write('x' * 100)")
        self.ready = self.connection.head("GET", self.session.target + "/files/list", None)

    def sample(self):
        return self.timed(lambda: self.ask(self.ready, "GET"))


class Life(Measure):
    """One session from creation to release; subclasses choose what of it is timed."""

    name = "create"
    floor = "calls"
    rounds, per_round = 15, 4
    code = None

    def prepare(self):
        self.create = self.request("POST", "/sessions", {})

    def finish(self):
        pass

    def sample(self):
        start = time.perf_counter()
        session = self.ask(self.create).json()["session_id"]
        if self.code:
            body = {"tool": "code_execution", "input": {"code": self.code}, "timeout_seconds": 60}
            result = self.ask(self.request("POST", "/sessions/%s/exec" % session, body)).json()
            if result["result_block"]["content"]["return_code"]:
                raise RuntimeError(result["result_block"]["content"]["stderr"])
        alive = time.perf_counter()
        self.ask(self.connection.head("DELETE", "/sessions/" + session, None), "DELETE")
        end = time.perf_counter()
        return self.part(start, alive, end) * 1000

    def part(self, start, alive, end):
        return alive - start


class FirstCall(Life):
    name = "create + first call"
    code = "print(1)"


class FreshPandas(Life):
    name = "fresh session with pandas"
    floor = None
    rounds, per_round = 8, 1
    code = "import pandas as pd\nprint(pd.DataFrame({'a': range(10)}).sum())"


class Destroy(Life):
    name = "destroy"
    code = "1"

    def part(self, start, alive, end):
        return end - alive


class ThousandLives(Life):
    name = "one of 1,000 lives"
    rounds, per_round = 10, 100
    code = "1"

    def part(self, start, alive, end):
        return end - start


class Upload(Measure):
    name, unit = "upload 100 MB", "MB/s"
    floor = "files"
    rounds, per_round = 4, 1

    def prepare(self):
        super().prepare()
        self.body, kind = multipart(bytes(100 * MB), "big")
        self.head = self.connection.head("POST", self.session.target + "/files", len(self.body), (kind,))

    def sample(self):
        def send():
            self.connection.send(self.head)
            self.connection.send(self.body)
            return self.connection.read_response("POST")

        return 100 / self.timed(send) * 1000


class Download(Upload):
    name = "download 100 MB"

    def prepare(self):
        super().prepare()
        Upload.sample(self)
        self.reuse_memory()
        self.ready = self.connection.head("GET", self.session.target + "/files?path=big", None)

    def sample(self):
        return 100 / self.timed(lambda: self.ask(self.ready, "GET")) * 1000


class Burst(Measure):
    """64 creates at once, until the last has answered."""

    name = "burst of 64 creates"
    floor = "calls"
    rounds, per_round = 3, 1

    def prepare(self):
        self.connections = [self.sandbox.new_connection() for _ in range(64)]
        for connection in self.connections:
            connection.request("GET", "/health")

    def finish(self):
        pass

    def sample(self):
        request = self.request("POST", "/sessions", {})
        start = time.perf_counter()
        for connection in self.connections:
            connection.send(request)
        answers = [connection.read_response("POST") for connection in self.connections]
        elapsed = (time.perf_counter() - start) * 1000
        for connection, answer in zip(self.connections, answers):
            connection.request("DELETE", "/sessions/" + answer.json()["session_id"])
        return elapsed


class Clients(Measure):
    """Several clients at once, each in a process of its own; the figure is their sum."""

    unit, rounds, per_round, count, seconds = "1/s", 3, 1, 8, 2.0
    floor = "calls"

    def prepare(self):
        pass

    def finish(self):
        pass

    def sample(self):
        import subprocess
        import sys

        from . import client

        url = "http://%s:%d" % (self.sandbox.host, self.sandbox.port)
        workers = [subprocess.Popen([sys.executable, client.__file__, url, self.work, str(self.seconds)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
                   for _ in range(self.count)]
        for worker in workers:
            worker.stdout.readline()
        for worker in workers:
            worker.stdin.write(b"go\n")
            worker.stdin.flush()
        return sum(float(worker.communicate()[0]) for worker in workers)


class CallsOf8(Clients):
    name, work = "calls from 8 clients", "calls"


class LivesOf4(Clients):
    name, work, count = "lives from 4 clients", "lives", 4


MEASURES = (Call, FirstCall, Life, Destroy, Bash, EditorCreate, List100, Print900k, Upload, Download, FreshPandas, CallsOf8, LivesOf4,
            Burst, ThousandLives)

# SPDX-License-Identifier: Apache-2.0
"""One of several clients at once: says ready, waits for a line, works, prints how many a second. See measures.Clients."""

import json
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from sandboxclient import Sandbox  # noqa: E402
from sandboxclient.sandbox import JSON_TYPE  # noqa: E402


def exec_request(connection, session):
    body = json.dumps({"tool": "code_execution", "input": {"code": "1"}}).encode()
    return connection.head("POST", "/sessions/%s/exec" % session, len(body), (JSON_TYPE,)) + body


def ask(connection, request, method="POST"):
    connection.send(request)
    response = connection.read_response(method)
    if response.status >= 300:
        raise RuntimeError(response)
    return response


def life(connection, create):
    session = ask(connection, create).json()["session_id"]
    ask(connection, exec_request(connection, session))
    ask(connection, connection.head("DELETE", "/sessions/" + session, None), "DELETE")


def main(url, work, seconds):
    connection = Sandbox(url).new_connection()
    create = connection.head("POST", "/sessions", 2, (JSON_TYPE,)) + b"{}"
    session = ask(connection, create).json()["session_id"]
    call = exec_request(connection, session)
    ask(connection, call)
    print("ready", flush=True)
    sys.stdin.readline()
    done, start = 0, time.perf_counter()
    while time.perf_counter() - start < float(seconds):
        if work == "calls":
            ask(connection, call)
        else:
            life(connection, create)
        done += 1
    elapsed = time.perf_counter() - start
    ask(connection, connection.head("DELETE", "/sessions/" + session, None), "DELETE")
    print(done / elapsed)


if __name__ == "__main__":
    main(*sys.argv[1:])

# SPDX-License-Identifier: Apache-2.0
"""The round trip of a call with a client that costs next to nothing: a C++ program, compiled when it is asked for."""

import json
import pathlib
import subprocess
import tempfile

SOURCE = pathlib.Path(__file__).with_name("c_client.cpp")


def call_with_c_client(sandbox, count=3000):
    """Milliseconds of each call."""
    with tempfile.TemporaryDirectory() as place, sandbox.create() as session:
        program = pathlib.Path(place) / "client"
        subprocess.run(["g++", "-O2", "-std=c++20", SOURCE, "-o", program], check=True)
        session.code("1")
        body = json.dumps({"tool": "code_execution", "input": {"code": "1"}})
        done = subprocess.run([program, sandbox.host, str(sandbox.port), session.target + "/exec", body, str(count)],
                              check=True, capture_output=True, text=True)
        return [float(line) / 1000 for line in done.stdout.split()]

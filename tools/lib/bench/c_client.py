# SPDX-License-Identifier: Apache-2.0
"""Round trips with a client that costs next to nothing: a C++ program, compiled when it is asked for."""

import json
import subprocess

from .compiled import compiled
from .measures import Upload


def _in_turns(sandboxes, sessions, target, body, rounds, per_round):
    """Milliseconds of each request, a list a backend; the rounds alternate between them."""
    samples = [[] for _ in sandboxes]
    with compiled("c_client.cpp") as program:
        for turn in range(rounds + 1):
            for session, values in zip(sessions, samples):
                command = [program, session.sandbox.host, str(session.sandbox.port), session.target + target, body, str(per_round)]
                done = subprocess.run(command, check=True, capture_output=True, text=True)
                if turn > 0:  # the first warms up
                    values.extend(float(line) / 1000 for line in done.stdout.split())
    return samples


def call(sandboxes):
    sessions = [sandbox.create() for sandbox in sandboxes]
    try:
        return _in_turns(sandboxes, sessions, "/exec", json.dumps({"tool": "code_execution", "input": {"code": "1"}}), rounds=10, per_round=300)
    finally:
        for session in sessions:
            session.delete()


def download(sandboxes):
    """MB/s of what measures.Upload sends."""
    files = [Upload(sandbox) for sandbox in sandboxes]
    try:
        for file in files:
            file.prepare()
            file.sample()
        times = _in_turns(sandboxes, [file.session for file in files], "/files?path=big", "", rounds=4, per_round=2)
        return [[100 / value * 1000 for value in values] for values in times]
    finally:
        for file in files:
            file.finish()
            file.connection.close()


# name, unit, which backend of floors.py has it, what takes the samples
MEASURES = (("call, C client", "ms", "calls", call), ("download, C client", "MB/s", "files", download))

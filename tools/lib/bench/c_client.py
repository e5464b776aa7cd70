# SPDX-License-Identifier: Apache-2.0
"""The round trip of a call with a client that costs next to nothing: a C++ program, compiled when it is asked for."""

import json
import subprocess

from .compiled import compiled


def call_with_c_client(sandboxes, rounds=10, per_round=300):
    """Milliseconds of each call, a list a backend; the rounds alternate between them."""
    body = json.dumps({"tool": "code_execution", "input": {"code": "1"}})
    samples = [[] for _ in sandboxes]
    with compiled("c_client.cpp") as program:
        sessions = [sandbox.create() for sandbox in sandboxes]
        try:
            for turn in range(rounds + 1):
                for session, values in zip(sessions, samples):
                    command = [program, session.sandbox.host, str(session.sandbox.port), session.target + "/exec", body, str(per_round)]
                    done = subprocess.run(command, check=True, capture_output=True, text=True)
                    if turn > 0:  # the first warms up
                        values.extend(float(line) / 1000 for line in done.stdout.split())
        finally:
            for session in sessions:
                session.delete()
    return samples

# SPDX-License-Identifier: Apache-2.0
"""The conformance check against a server of its own; each clause is one test."""

import re
import sys

from .tally import Tally, fail, run


def conformance(source, environment):
    sys.path.insert(0, str(source / "tests" / "integration"))
    from harness import running

    try:
        with running({"SANDBOX_SESSION_GC_INTERVAL": "1"}) as server:
            url = "http://127.0.0.1:%d" % server.port
            status, output = run([sys.executable, "-B", source / "tools" / "conformance", url], 400, env=environment)
    except AssertionError as broken:
        return fail("conformance: the server: %s" % broken)
    last = re.search(r"^(\d+) passed, (\d+) failed, (\d+) skipped$", output, re.M)
    if not last:
        return fail("tools/conformance ended with %d\n%s" % (status, output[-4000:]))
    passed, failed, skipped = map(int, last.groups())
    return Tally(passed, failed, skipped, [output[:last.start()]] if failed or skipped else [])

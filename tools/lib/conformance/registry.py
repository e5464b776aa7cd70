# SPDX-License-Identifier: Apache-2.0
"""The list of clauses and what a clause may use to judge."""

import dataclasses
from typing import Callable


class Skip(Exception):
    """Raised by a clause that cannot be judged here; the text is the reason."""


@dataclasses.dataclass(frozen=True)
class Clause:
    area: str        # the operation or tool it belongs to
    promise: str     # one sentence that the backend keeps or breaks
    judge: Callable  # takes a Sandbox; raises AssertionError when the promise is broken
    slow: bool       # waits for clocks; runs beside the others


CLAUSES: list[Clause] = []


def clause(area, promise, slow=False):
    def register(judge):
        CLAUSES.append(Clause(area, promise, judge, slow))
        return judge

    return register


def expect(truth, *seen):
    if not truth:
        raise AssertionError(" ".join(str(part)[:600] for part in seen) or "does not hold")


def equal(seen, wanted, what=""):
    if seen != wanted:
        raise AssertionError("%s: got %.300r, wanted %.300r" % (what or "value", seen, wanted))


def status(response, *wanted):
    seen = response.status
    if seen not in wanted:
        raise AssertionError("status %d, wanted %s; body %.200r" % (
            seen, " or ".join(map(str, wanted)), bytes(response.body)))
    return response


def succeeds(result, stdout=None):
    """The call ran without failure and said nothing on stderr."""
    equal(result.status, 200, "status")
    expect(result.return_code == 0 and result.stderr == "", "call failed:", result)
    if stdout is not None:
        equal(result.stdout, stdout, "stdout")
    return result

# SPDX-License-Identifier: Apache-2.0
"""The same checks in sessions of a server that an ordinary user started."""

import test_escape
import test_rootless


class WithSubordinateIds(test_rootless.AsUser, test_escape.Escape):
    """No promise is open where the user has ids to give away."""


class WithoutSubordinateIds(test_rootless.AsUser, test_escape.Escape):
    """Nor where every process has the user's own, but that."""

    subordinate_ids = False
    given_up = ("the uid outside is neither root nor an ordinary user, and only one is mapped",)
    allowed = "shared-uid,no-cgroup"


class WithoutSubordinateIdsExec(WithoutSubordinateIds):
    settings = {**test_escape.Escape.settings, "SANDBOX_SPAWN": "exec"}

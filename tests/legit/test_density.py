# SPDX-License-Identifier: Apache-2.0
"""What a session that has used pandas costs."""
import os

import process_tree
from in_sessions import LegitTestCase

USE = "import pandas as pd\nd = pd.DataFrame({'a': range(100), 'b': list('xy') * 50})\nprint(len(d.describe()), d.groupby('b').a.sum().to_dict())"


class Density(LegitTestCase):
    spawn = "fork"
    settings = {"SANDBOX_MAX_SESSIONS": "512"}

    def test_sessions_that_used_pandas_take_little_memory_each(self):
        count = 500 if os.environ.get("ROOKERY_TEST_LONG") else 20
        self.new_session().code(USE)
        before = process_tree.pss_kb(self.server.tree())
        sessions = [self.new_session() for _ in range(count)]
        for session in sessions:
            result = session.code(USE, 60)
            self.assertEqual(result.stdout, "8 {'x': 2450, 'y': 2500}", result)
        self.assertLess((process_tree.pss_kb(self.server.tree()) - before) * 1.024 / count, 12_000)

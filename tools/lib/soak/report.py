# SPDX-License-Identifier: Apache-2.0
"""What all threads of a soak write down."""

import collections
import threading

MOST_VIOLATIONS = 50


class Report:
    def __init__(self):
        self.lock = threading.Lock()
        self.over = threading.Event()
        self.counts = collections.Counter()
        self.violations = []
        self.refused = []  # why leases were refused

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def violated(self, text):
        """One promise was broken. After many of them there is no use in going on."""
        with self.lock:
            self.violations.append(text)
            if len(self.violations) >= MOST_VIOLATIONS:
                self.over.set()

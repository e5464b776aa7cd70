# SPDX-License-Identifier: Apache-2.0
"""What tools/test runs: each suite gives a Tally; the sum is the last line."""

# SPDX-License-Identifier: Apache-2.0
"""Checks a backend against the code-execution contract, clause by clause, from outside."""

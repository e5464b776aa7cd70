# SPDX-License-Identifier: Apache-2.0
"""Measures a backend, or two in turns, over HTTP."""

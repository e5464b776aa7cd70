# SPDX-License-Identifier: Apache-2.0
"""A small client of the code-execution contract over raw sockets; used by tools/ and tests/."""

from .connection import BrokenResponse, Connection, Response
from .sandbox import Result, Sandbox, Session

__all__ = ["BrokenResponse", "Connection", "Response", "Result", "Sandbox", "Session"]

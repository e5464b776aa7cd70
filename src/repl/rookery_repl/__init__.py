# SPDX-License-Identifier: Apache-2.0
"""The Python side of a session. ../driver.py is the entry.

User code shares the interpreter with this package and may break whatever it can reach. So: every module here binds
private builtins first; everything is imported at start, because user code may empty sys.modules and sys.path; and
originals of what the driver needs are kept and put back (state.py) before and after each cell.
"""

# SPDX-License-Identifier: Apache-2.0
"""The private sys.stdin, sys.stdout and sys.stderr of a session."""
from rookery_repl.private import BUILTINS as __builtins__

from io import BufferedReader, BufferedWriter, FileIO, TextIOWrapper


def _open(fd, mode, name, errors):
    # As the interpreter opens them itself; line-buffered so that output of subprocesses keeps its place.
    raw = FileIO(fd, mode, closefd=False)
    raw.name = name
    buffer = BufferedReader(raw) if mode == "r" else BufferedWriter(raw)
    stream = TextIOWrapper(buffer, "utf-8", errors, newline=None if mode == "r" else "\n", line_buffering=mode == "w")
    stream.mode = mode
    return stream


class _Stream:
    def __init__(self, *arguments):
        self._arguments = arguments
        self.create()

    def create(self):
        self.stream = _open(*self._arguments)
        self._attributes = vars(self.stream)
        self._expected = dict(self._attributes)

    def usable(self):
        """False when user code closed or detached it, or hung its own functions onto it."""
        try:
            return not self.stream.closed and self._attributes == self._expected
        except ValueError:
            return False

    def flush(self):
        try:
            self.stream.flush()
        except (OSError, ValueError):
            self._discard()
            self.create()

    def _discard(self):
        # What could not be written must not come out in a later call.
        try:
            self.stream.buffer.raw.close()
        except (OSError, ValueError):
            pass


class Streams:
    def __init__(self):
        # surrogateescape is what the interpreter itself takes for the locale C.UTF-8 that sessions run in.
        self._streams = {
            "stdin": _Stream(0, "r", "<stdin>", "surrogateescape"),
            "stdout": _Stream(1, "w", "<stdout>", "surrogateescape"),
            "stderr": _Stream(2, "w", "<stderr>", "backslashreplace"),
        }

    def restore(self, namespace):
        """Puts working streams into sys's namespace, the private ones where they still work."""
        for name, entry in self._streams.items():
            # A replacement that dies here may close the buffer it was built on, so look afterwards.
            namespace[name] = namespace[f"__{name}__"] = entry.stream
            if not entry.usable():
                entry.create()
                namespace[name] = namespace[f"__{name}__"] = entry.stream

    def replaced(self, namespace):
        """Output streams that user code put in place of the private ones."""
        found = []
        for name in ("stdout", "stderr"):
            stream = namespace.get(name)
            if stream is not None and stream is not self._streams[name].stream:
                found.append(stream)
        return found

    def flush(self):
        self._streams["stdout"].flush()
        self._streams["stderr"].flush()

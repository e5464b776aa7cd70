# SPDX-License-Identifier: Apache-2.0
"""A session: what happens from a request to its answer. The extension's loop calls run_cell for each."""
from rookery_repl.private import BUILTINS as __builtins__, native

import sys
from errno import ENOMEM
from os import strerror

from rookery_repl.cell import Compiler, awaits, decode, mentions
from rookery_repl.display import Display, load as load_display, shorten
from rookery_repl.event_loop import EventLoop
from rookery_repl.main_module import create_main, prefer_fork
from rookery_repl.sources import Sources
from rookery_repl.state import State
from rookery_repl.streams import Streams

_SUCCESS = 0, 0
_FAILURE = 1, 0
_FORK_NOT_DEFAULT = sys.version_info >= (3, 14)


def _flush(stream):
    stream.flush()


def _show(value):
    if value is not None:
        print(repr(value))


class Session:
    """Made in the zygote, in fork mode, so that what making it takes is shared; serve() is for the session's own process."""

    def __init__(self, workspace, echo, modules):
        self._workspace = workspace
        self._streams = Streams()
        self._sources = Sources()
        self._main = sys.modules["__main__"] = create_main(self._sources)
        self._namespace = vars(self._main)
        self._sys = vars(sys)
        sys.argv = [""]
        sys.path.append(workspace)  # last: a file random.py there must not hide the standard one
        self._state = State(self._streams, self._main, dict(modules, linecache=self._sources.linecache))
        self._state.restore()
        self.tidy = self._state.tidy
        self._compiler = Compiler(echo)
        self._display = Display(self._sources)
        self._loop = EventLoop()

    def serve(self, channel, open_files):
        """Runs cells for ever."""
        native.claim_process(channel, open_files, self._workspace)
        self._touch()
        native.serve(self.run_cell, self.tidy)

    def run_cell(self, source, error):
        """(return code, errno of an uncaught OSError or 0). `source` is bytes, or None with the errno of its loss."""
        self._state.restore_after_threads()
        return self._execute(source, error)

    def _touch(self):
        """Goes the way of a cell once, without a trace, so that the first call finds in memory what it needs."""
        for code in self._compiler.compile("pass", "<touch>")[0]:
            native.interruptible(native.evaluate, code, self._namespace)
        self._settle()
        self.tidy()

    def _execute(self, source, error):
        name = f"<cell {self._sources.count + 1}>"
        try:
            if source is None:
                raise OSError(error, f"the source text could not be read: {strerror(error)}")
            text = decode(source)
            self._sources.add(name, text, self._compiler.flags)
            codes, show = self._compiler.compile(text, name)
            self._prepare_modules(codes)
        except BaseException as exception:
            return self._report(exception, stack=False)
        try:
            value = None
            for code in codes:
                value = native.interruptible(native.evaluate, code, self._namespace)
                if awaits(code):
                    value = native.interruptible(self._loop.run, value)
            if show:
                native.interruptible(_show, value)
        except BaseException as exception:
            self._settle()
            self._state.restore()  # for what it takes to show the exception
            return self._report(exception)
        self._settle()
        return _SUCCESS

    def _prepare_modules(self, codes):
        self._loop.prepare(mentions(codes, "asyncio"), any(map(awaits, codes)))
        if _FORK_NOT_DEFAULT and mentions(codes, "multiprocessing", "concurrent"):
            prefer_fork()

    def _settle(self):
        """After user code: nothing it wrote is lost, and the interpreter is fit for the driver's own work."""
        for stream in self._streams.replaced(self._sys):
            try:
                native.interruptible(_flush, stream)
            except BaseException:
                pass  # the user's own stream, and the cell is over
        self._state.restore_interrupt()
        self._streams.restore(self._sys)
        native.restore_descriptors()
        self._streams.flush()

    def _report(self, exception, stack=True):
        try:
            return self._describe(exception, stack)
        finally:
            self._streams.flush()

    def _describe(self, exception, stack):
        # By type and by slot: attributes of the exception, even __class__, may be user code.
        kind = type(exception)
        if issubclass(kind, SystemExit):
            return self._exit(SystemExit.code.__get__(exception))
        try:
            text = native.interruptible(self._display.text, exception, stack)
        except BaseException:
            text = self._display.plain(exception)
        self._write(text)
        error = 0
        if issubclass(kind, MemoryError):
            error = ENOMEM
        elif issubclass(kind, OSError):
            error = OSError.errno.__get__(exception)
        return 1, error & 0xffffffff if type(error) is int else 0

    def _exit(self, code):
        if code is None:
            return _SUCCESS
        if issubclass(type(code), int):
            return max(-2**31, min(2**31 - 1, int.__add__(code, 0))), 0
        try:
            self._write(shorten(native.interruptible(str, code)) + "\n")
        except BaseException:
            pass  # a code whose text cannot be made has none
        return _FAILURE

    def _write(self, text):
        # User code may have run since the last time, for the text.
        native.restore_descriptors()
        native.write_error(text.encode("utf-8", "backslashreplace"))


def warm_up():
    import asyncio
    import linecache
    load_display()

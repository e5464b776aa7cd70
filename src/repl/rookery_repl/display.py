# SPDX-License-Identifier: Apache-2.0
"""Turns an exception that came out of a cell into bounded text.

The standard traceback module does the work, but is fed one exception at a time: left alone it would follow a chain of
100,000 causes or build every member of a deeply nested group before it prints a line. And it is a private copy, with a
private linecache, because user code may have patched the ones it sees.
"""
from rookery_repl.private import BUILTINS as __builtins__, DIRECTORY

import sys
from importlib.machinery import PathFinder

_MAX_TEXT = 64 * 1024     # characters
_HEAD = 24 * 1024         # of those, from the start; the end says what went wrong
_MAX_EXCEPTIONS = 64      # in one display, groups and chains together
_MAX_CHAIN = 24           # causes and contexts behind one exception
_MAX_FRAMES = 3000
_GROUP_WIDTH = 15         # traceback's own limits
_GROUP_DEPTH = 10

try:
    _Group = BaseExceptionGroup
except NameError:  # before Python 3.11
    _Group = ()


def shorten(text):
    if len(text) <= _MAX_TEXT:
        return text
    tail = _MAX_TEXT - _HEAD
    return f"{text[:_HEAD]}\n[... {len(text) - _MAX_TEXT} characters left out ...]\n{text[-tail:]}"


def _private_copy(name):
    spec = PathFinder.find_spec(name)
    module = type(sys)(name)
    module.__spec__ = spec
    module.__builtins__ = __builtins__
    spec.loader.exec_module(module)
    return module


_traceback = None


def load():
    """The private copy of traceback. Slow the first time, so not part of the start-up."""
    global _traceback
    if _traceback is None:
        module = _private_copy("traceback")
        module.linecache = _private_copy("linecache")
        _traceback = module
    return _traceback


class Display:
    def __init__(self, sources):
        self._sources = sources

    def text(self, exception, stack=True):
        """May run user code (`__str__`) and so may raise anything, take any time, or be interrupted."""
        module = load()
        self._sources.fill(module.linecache)
        summary = _Summary(module).of(exception, 0)
        lines = summary.format() if stack else summary.format_exception_only()
        return shorten("".join(lines))

    def plain(self, exception):
        """Without the traceback module and without running user code."""
        lines = ["Traceback (most recent call last):\n"]
        traceback = _user_part(BaseException.__traceback__.__get__(exception))
        while traceback is not None and len(lines) < 100:
            code = traceback.tb_frame.f_code
            lines.append(f'  File "{code.co_filename}", line {traceback.tb_lineno}, in {code.co_name}\n')
            line = self._sources.line(code.co_filename, traceback.tb_lineno)
            if line:
                lines.append(f"    {line.strip()}\n")
            traceback = traceback.tb_next
        message = ", ".join(value for value in BaseException.args.__get__(exception) if type(value) is str)
        name = type.__dict__["__name__"].__get__(type(exception))
        lines.append(f"{name}: {message}\n" if message else f"{name}\n")
        return shorten("".join(lines))


class _Summary:
    """Builds traceback.TracebackException objects within a budget."""

    def __init__(self, module):
        self._module = module
        self._seen = set()

    def of(self, exception, depth):
        first = result = self._single(exception, depth)
        for _ in range(_MAX_CHAIN):
            cause = exception.__cause__
            following = cause if cause is not None else exception.__context__
            if following is None or (cause is None and exception.__suppress_context__):
                return first
            if id(following) in self._seen or len(self._seen) >= _MAX_EXCEPTIONS:
                return first
            summary = self._single(following, depth)
            if cause is not None:
                result.__cause__ = summary
            else:
                result.__context__ = summary
            exception, result = following, summary
        result._str = f"{result._str} [earlier exceptions of the chain are not shown]"
        return first

    def _single(self, exception, depth):
        self._seen.add(id(exception))
        followed = {id(exception.__cause__), id(exception.__context__)}
        traceback = _user_part(exception.__traceback__)
        summary = self._module.TracebackException(
            type(exception), exception, traceback, limit=_limit(traceback), _seen=followed)
        summary.stack[:] = [frame for frame in summary.stack if not frame.filename.startswith(DIRECTORY)]
        summary.__cause__ = summary.__context__ = summary.exceptions = None
        if _Group and isinstance(exception, _Group):
            summary.exceptions = self._members(exception.exceptions, depth + 1)
        return summary

    def _members(self, exceptions, depth):
        if depth > _GROUP_DEPTH:
            return []
        shown = []
        for exception in exceptions[:_GROUP_WIDTH]:
            if len(self._seen) >= _MAX_EXCEPTIONS:
                break
            shown.append(self.of(exception, depth))
        # traceback shows the first members and counts the rest.
        return shown + [_NotShown()] * (len(exceptions) - len(shown))


class _NotShown:
    """A group member beyond the budget."""

    def format(self, chain=True, _ctx=None):
        yield from _ctx.emit("[not shown]\n")


def _user_part(traceback):
    """The traceback from the first frame of a cell on; without any, past the driver's own frames."""
    current = traceback
    while current is not None and not current.tb_frame.f_code.co_filename.startswith("<cell "):
        current = current.tb_next
    if current is not None:
        return current
    while traceback is not None and traceback.tb_frame.f_code.co_filename.startswith(DIRECTORY):
        traceback = traceback.tb_next
    return traceback


def _limit(traceback):
    count = 0
    while traceback is not None:
        count += 1
        traceback = traceback.tb_next
    return None if count <= _MAX_FRAMES else -200

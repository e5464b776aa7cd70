# SPDX-License-Identifier: Apache-2.0
"""The one event loop of a session: cells that await run on it, and its tasks live on from cell to cell."""
from rookery_repl.private import BUILTINS as __builtins__

import _signal
import os
import sys


def _waiting(frame):
    """True when the main thread was interrupted inside the event loop itself, not in code that the loop runs."""
    while frame is not None and frame.f_code is not _CODE_OF_RUN:
        module = frame.f_globals.get("__name__")
        if module != "selectors" and not str(module).startswith("asyncio."):
            return False
        frame = frame.f_back
    return True


def _nothing():
    pass


class EventLoop:
    def __init__(self):
        self._asyncio = None  # kept: user code may take it out of sys.modules
        self._loop = None
        self._preloaded = "asyncio" in sys.modules  # by the zygote: says nothing of this session

    def prepare(self, imported, awaiting):
        """Before a cell: makes the loop the current one, if asyncio is in use, about to be imported, or needed."""
        in_use = self._loop is not None or (not self._preloaded and "asyncio" in sys.modules)
        if not imported and not awaiting and not in_use:
            return
        try:
            if self._asyncio is None:
                import asyncio
                self._asyncio = asyncio
            if self._loop is None:
                self._loop = self._new()
            elif not self._alive():
                self._let_go()
                self._loop = self._asyncio.new_event_loop()
            self._asyncio.set_event_loop(self._loop)
        except Exception:
            if awaiting:
                raise  # else only what the cell does with a damaged asyncio fails

    def run(self, coroutine):
        """The result of the coroutine. After an interrupt its task is cancelled and the loop can be used again."""
        loop = self._loop
        task = loop.create_task(coroutine)
        interrupts = []

        def interrupt(number, frame):
            interrupts.append(number)
            if len(interrupts) > 1 or not _waiting(frame):
                raise KeyboardInterrupt
            # Nothing runs, so cancelling ends the wait; and the traceback shows where the user's code waited.
            task.cancel()
            loop.call_soon_threadsafe(_nothing)

        _signal.signal(_signal.SIGINT, interrupt)
        try:
            return loop.run_until_complete(task)
        except self._asyncio.CancelledError as error:
            if not interrupts:
                raise
            while error.__context__ is not None:  # before Python 3.11 the first one holds the user's frames
                error = error.__context__
            raise KeyboardInterrupt().with_traceback(error.__traceback__) from None
        except BaseException:
            self._end(task)
            raise
        finally:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    def _end(self, task):
        if not task.done():
            task.cancel()
            try:
                self._loop.run_until_complete(task)
            except (Exception, self._asyncio.CancelledError):
                pass
        elif not task.cancelled():
            task.exception()  # seen: else asyncio would report it once more

    def _alive(self):
        try:
            if self._loop.is_closed():
                return False
            selector = getattr(self._loop, "_selector", None)
            if selector is not None:
                os.fstat(selector.fileno())  # user code may have closed every descriptor it found
            return True
        except (OSError, ValueError):
            return False

    def _let_go(self):
        """Closes what is left of a dead loop, before the numbers of its descriptors are given to a new one."""
        try:
            self._loop.close()
        except Exception:
            # Half closed. What it holds is closed one by one, and its finalizer has nothing left to complain about.
            for name in ("_selector", "_ssock", "_csock"):
                try:
                    getattr(self._loop, name).close()
                except Exception:
                    pass
            self._loop._closed = True

    def _new(self):
        """The loop that user code made current before a cell awaited for the first time, or a new one."""
        import warnings
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                loop = self._asyncio.get_event_loop()
            if not loop.is_closed():
                return loop
        except RuntimeError:
            pass
        return self._asyncio.new_event_loop()


_CODE_OF_RUN = EventLoop.run.__code__

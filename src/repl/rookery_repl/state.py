# SPDX-License-Identifier: Apache-2.0
"""Undoes, between cells, what a cell did to the interpreter itself. The user's own objects stay."""
from rookery_repl.private import BUILTINS as __builtins__, native

import _signal
import _thread
import builtins
import sys

_FUNCTION = type(len)
_REAL_TIME = range(32, _signal.NSIG)
_HOOKS = "excepthook", "displayhook", "unraisablehook", "breakpointhook"  # a site's own may be Python functions


class State:
    def __init__(self, streams, main, modules):
        self._streams = streams
        self._builtins = vars(builtins), dict(vars(builtins))
        sys_functions = {name: value for name, value in vars(sys).items() if type(value) is _FUNCTION or name in _HOOKS}
        self._sys = vars(sys), dict(sys_functions, modules=sys.modules)
        self._modules = sys.modules, dict(modules, __main__=main)
        self._main = vars(main), {"__name__": "__main__", "__builtins__": builtins}
        self._lists = {name: list(getattr(sys, name)) for name in ("path", "meta_path", "path_hooks")}
        self._threads = 0
        _signal.signal(_signal.SIGINT, _signal.default_int_handler)
        self._handlers = {number: _signal.getsignal(number) for number in range(1, _signal.NSIG)}

    def tidy(self):
        """After the answer to a cell, while nobody waits."""
        self._threads = _thread._count()  # one that ends before the next cell may still do something
        self.restore()
        self._restore_signals()
        self._restore_thread_hooks()

    def restore_after_threads(self):
        """Before a cell: only threads can have been at work since the last one was tidied up after."""
        if self._threads:
            self.restore()

    def restore(self):
        native.restore_items(*self._builtins)
        native.restore_items(*self._sys)
        native.restore_items(*self._modules)
        native.restore_items(*self._main)
        namespace = self._sys[0]
        for name, saved in self._lists.items():
            current = namespace.get(name)
            if type(current) is not list or not current:
                namespace[name] = list(saved)
        self._streams.restore(namespace)

    def restore_interrupt(self):
        # The kernel knows one handler for all of Python's, so a changed one shows here only.
        if _signal.getsignal(_signal.SIGINT) is not _signal.default_int_handler:
            _signal.signal(_signal.SIGINT, _signal.default_int_handler)

    def _restore_signals(self):
        handlers = self._handlers
        changed = native.restore_process() + [number for number in _REAL_TIME if _signal.getsignal(number) is not handlers[number]]
        for number in changed:
            if handlers[number] is not None:
                _signal.signal(number, handlers[number])

    def _restore_thread_hooks(self):
        threading = self._modules[0].get("threading")
        try:
            if getattr(threading, "_trace_hook", None) is not None:
                threading.settrace(None)
            if getattr(threading, "_profile_hook", None) is not None:
                threading.setprofile(None)
        except Exception:
            # Not the real module any more: its hooks reach no thread.
            pass

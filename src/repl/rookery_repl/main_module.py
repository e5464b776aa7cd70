# SPDX-License-Identifier: Apache-2.0
"""The module `__main__` that cells run in."""
from rookery_repl.private import BUILTINS as __builtins__, DIRECTORY

import builtins
import os
import sys

_Module = type(sys)


class _Definitions:
    """A file with the definitions of all cells so far, which spawned processes run as their main program."""

    def __init__(self, sources):
        self._sources = sources
        self._written = None

    def path(self):
        path = os.path.join(os.environ.get("TMPDIR") or "/tmp", f"rookery-main-{os.getpid()}.py")
        state = path, self._sources.count
        if self._written != state or not os.path.exists(path):
            self._write(path)
            self._written = state
        return path

    def _write(self, path):
        with open(os.path.join(DIRECTORY, "rookery_repl", "spawned_main.py"), encoding="utf-8") as file:
            template = file.read()
        # Under another name first: a process that is just starting must not read half a file.
        new = f"{path}.new"
        descriptor = os.open(new, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{template}\n\n_define({self._sources.cells()!r})\n")
        os.replace(new, path)


def create_main(sources):
    """A new module `__main__`, with nothing of the driver in its namespace."""
    definitions = _Definitions(sources)

    class MainModule(_Module):
        # A session has no script, so `__main__.__file__` does not exist, as in any interactive interpreter. Two callers
        # get one, because else what they do fails for things defined in cells: inspect, which finds a class by its
        # module's file, and multiprocessing (and its relatives), whose spawned processes run that file.
        @property
        def __file__(self):
            own = vars(self).get("__file__")
            if own is not None:
                return own
            caller = sys._getframe(1)
            module = caller.f_globals.get("__name__")
            path = None
            if module == "inspect" and caller.f_code.co_name == "getfile":
                wanted = caller.f_locals["object"]
                path = sources.defining_cell(wanted) if isinstance(wanted, type) else None
            elif isinstance(module, str) and module.rpartition(".")[2] == "spawn":
                path = definitions.path()
            if path is None:
                raise AttributeError("module '__main__' has no attribute '__file__'")
            return path

        @__file__.setter
        def __file__(self, value):
            vars(self)["__file__"] = value

        @__file__.deleter
        def __file__(self):
            vars(self).pop("__file__", None)

    MainModule.__name__ = MainModule.__qualname__ = "module"
    MainModule.__module__ = "builtins"
    main = MainModule("__main__")
    main.__builtins__ = builtins
    main.__annotations__ = {}
    return main


def prefer_fork():
    """Makes fork the start method again (Python 3.14 changed it): workers then see the session's variables."""
    import multiprocessing
    if multiprocessing.get_start_method(allow_none=True) is None:
        multiprocessing.set_start_method("fork")

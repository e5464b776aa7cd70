# SPDX-License-Identifier: Apache-2.0
"""The source text of past cells, for tracebacks, warnings, inspect and spawned processes."""
from rookery_repl.private import BUILTINS as __builtins__

import sys
from _thread import RLock
from importlib.machinery import PathFinder

_LIMIT = 16 * 1024 * 1024  # characters of all cells together
_OVERHEAD = 512            # what a cell costs beyond its text, so that empty cells are bounded too

_Module = type(sys)



class Sources:
    def __init__(self):
        self._cells = {}  # name -> (linecache's entry, compiler flags), oldest first
        self._size = 0
        self.count = 0  # of all cells ever added
        self.linecache = self._find_linecache()

    def add(self, name, text, flags):
        lines = [line + "\n" for line in text.split("\n")]
        # A modification time of None keeps linecache from looking for a file.
        entry = len(text), None, lines, name
        self._cells[name] = entry, flags
        self.count += 1
        self._size += len(text) + _OVERHEAD
        cache = _cache_of(self.linecache)
        while self._size > _LIMIT and len(self._cells) > 1:
            oldest = next(iter(self._cells))
            self._size -= self._cells.pop(oldest)[0][0] + _OVERHEAD
            cache.pop(oldest, None)
        cache[name] = entry

    def cells(self):
        """(name, text, compiler flags) of the cells that are still kept, oldest first."""
        return [(name, self._text(name), flags) for name, (_, flags) in self._cells.items()]

    def line(self, name, number):
        """One line of a cell, or "" when it is not kept."""
        entry, _ = self._cells.get(name, (None, 0))
        return entry[2][number - 1] if entry and 0 < number <= len(entry[2]) else ""

    def fill(self, linecache):
        """Brings the cells into a linecache module, also after user code cleared it."""
        cache = _cache_of(linecache)
        for name in [name for name in cache if name.startswith("<cell ") and name not in self._cells]:
            del cache[name]
        for name, (entry, _) in self._cells.items():
            if name not in cache:
                cache[name] = entry

    def defining_cell(self, cls):
        """The name of the cell that a class was defined in, or None."""
        for value in vars(cls).values():
            code = getattr(value, "__code__", None)
            name = getattr(code, "co_filename", None)
            if name in self._cells and value.__qualname__.startswith(cls.__qualname__ + "."):
                return name
        words = ["class", cls.__name__]
        for name in reversed(list(self._cells)):
            for line in self._cells[name][0][2]:
                if line.lstrip().startswith("class") and line.replace("(", " ").replace(":", " ").split()[:2] == words:
                    return name
        return None

    def _text(self, name):
        return "".join(self._cells[name][0][2])

    def _find_linecache(self):
        """linecache, not yet executed: it is slow to import, and must know the cells once somebody does."""
        module = sys.modules.get("linecache")
        if module is None:
            module = sys.modules["linecache"] = _lazy_module("linecache", self.fill)
        return module


def _cache_of(linecache):
    # From the namespace, because looking at an attribute would load a lazy module.
    cache = vars(linecache).get("cache")
    return cache if type(cache) is dict else {}


def _lazy_module(name, loaded):
    spec = PathFinder.find_spec(name)
    lock = RLock()
    loading = []

    class LazyModule(_Module):
        def __getattr__(self, name):
            with lock:
                if type(self) is LazyModule:
                    if loading:
                        raise AttributeError(name)
                    loading.append(True)
                    try:
                        spec.loader.exec_module(self)
                    finally:
                        loading.clear()
                    self.__class__ = _Module
                    loaded(self)
            return getattr(self, name)

    module = LazyModule(name)
    module.__spec__ = spec
    module.__loader__ = spec.loader
    module.__file__ = spec.origin
    module.__package__ = ""
    return module

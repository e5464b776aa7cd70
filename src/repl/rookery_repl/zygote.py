# SPDX-License-Identifier: Apache-2.0
"""One warm interpreter, from which those of the sessions are forked (fork mode).

It imports what sessions usually import, once, and then makes a new interpreter in a jail for each request of the warden.
It runs no client's code and reads no client's bytes. What a fork shares is made private here, in the new process.
"""
from rookery_repl import directories
from rookery_repl.private import native

from rookery_repl.exercise import exercise

import gc
import importlib
import os
import sys
import warnings

# What model-written programs import most; those that an image lacks are left out.
PRELOAD = (
    "numpy pandas scipy scipy.stats scipy.optimize matplotlib.pyplot sklearn sklearn.linear_model seaborn PIL.Image sympy openpyxl "
    "requests bs4 lxml.etree docx pptx pypdf xlsxwriter dateutil pytz json csv re datetime random math statistics collections "
    "itertools functools subprocess tempfile asyncio threading multiprocessing sqlite3 urllib.request"
)


def _preload(names):
    """Imports each; a broken one is told on stderr and left out."""
    loaded = []
    for name in names:
        try:
            importlib.import_module(name)
        except ModuleNotFoundError:
            continue
        except Exception as error:
            print(f"preload of {name} failed and is left out: {error!r}"[:500], file=sys.stderr)
            continue
        loaded.append(name)
    return loaded


def _check_alone():
    """A fork copies one thread and every descriptor: neither may be left over from an import."""
    threads = os.listdir("/proc/self/task")
    if len(threads) != 1:
        raise SystemExit(f"a preloaded module left {len(threads) - 1} threads running; see SANDBOX_PRELOAD")


class _Generators:
    """Random generators that the imports left behind, wherever they are kept. Python's own, which the functions of the
    module random use, reseeds itself after a fork; os.urandom, and with it secrets and uuid4, has no state."""

    def __init__(self):
        import random
        self._kinds = {random.Random: random.Random.seed}
        numpy = sys.modules.get("numpy.random")
        if numpy is not None:
            self._kinds[numpy.RandomState] = self._reseed_legacy
            self._kinds[numpy.Generator] = self._reseed_bits
        kinds = tuple(self._kinds)
        # By the type's own bases: to ask an object for its class can run code of the module that made it.
        self._found = [thing for thing in gc.get_objects() if issubclass(type(thing), kinds) and type(thing) is not random.SystemRandom]

    @staticmethod
    def _fresh_state(bits):
        # Those two without the way through numpy.random.SeedSequence, whose first use takes ten times as long.
        name = type(bits).__name__
        if name == "MT19937":
            return {"bit_generator": name, "state": {"key": sys.modules["numpy"].frombuffer(os.urandom(2496), "u4"), "pos": 624}}
        if name == "PCG64":
            state, increment = (int.from_bytes(os.urandom(16), "little") for _ in range(2))
            return {"bit_generator": name, "state": {"state": state, "inc": increment | 1}, "has_uint32": 0, "uinteger": 0}
        return type(bits)().state

    def _reseed_legacy(self, generator):
        generator.set_state(self._fresh_state(generator._bit_generator))

    def _reseed_bits(self, generator):
        bits = generator.bit_generator
        bits.state = self._fresh_state(bits)

    def reseed(self):
        for generator in self._found:
            for kind, seed in self._kinds.items():
                if issubclass(type(generator), kind):
                    seed(generator)


def _forget_secrets():
    """What modules drew at random, or derived from this process, when they were imported or first used."""
    for module, name in (("tempfile", "_name_sequence"), ("tempfile", "tempdir"), ("uuid", "_node"), ("uuid", "_last_timestamp")):
        if module in sys.modules:
            setattr(sys.modules[module], name, None)
    process = sys.modules.get("multiprocessing.process")
    if process is not None:
        process.current_process().authkey = os.urandom(32)


def serve(warden, config, prepare_session):
    filters = list(warnings.filters)
    names = os.environ.pop("ROOKERY_PRELOAD", "") or PRELOAD
    directories.make()
    native.remember_arenas()
    loaded = _preload(names.replace(",", " ").split())
    exercise(loaded)
    sys.stdout.flush()  # what a module printed is the zygote's, not every session's
    warnings.filters[:] = filters
    _check_alone()
    serve_session = prepare_session()
    gc.collect()
    generators = _Generators()
    native.make_immortal(gc.get_objects())
    gc.freeze()  # pages that the collector never writes to stay shared
    if not native.fork_loop(warden, config, " ".join(loaded)):
        raise SystemExit(1)
    # From here on in a jail, as a session's interpreter.
    generators.reseed()
    _forget_secrets()
    serve_session(3)

# SPDX-License-Identifier: Apache-2.0
"""One warm interpreter, from which those of the sessions are forked (fork mode).

It imports what sessions usually import, once, and then makes a new interpreter in a jail for each request of the warden.
It runs no client's code and reads no client's bytes. What a fork shares is made private here, in the new process.
"""
from rookery_repl.private import native

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
            print(f"rookery: preload of {name} failed and is left out: {error!r}"[:500], file=sys.stderr)
            continue
        loaded.append(name)
    return loaded


def _check_alone():
    """A fork copies one thread and every descriptor: neither may be left over from an import."""
    threads = os.listdir("/proc/self/task")
    if len(threads) != 1:
        raise SystemExit(f"rookery: a preloaded module left {len(threads) - 1} threads running; see SANDBOX_PRELOAD")


def _reseed():
    """Random generators of modules. Python's own reseed themselves after a fork (os.register_at_fork)."""
    numpy_random = sys.modules.get("numpy.random")
    if numpy_random is not None:
        numpy_random.seed()
    sympy_random = sys.modules.get("sympy.core.random")
    if sympy_random is not None:
        sympy_random.rng.seed()


def _private_directories():
    for variable in ("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        path = os.environ.get(variable)
        if path:
            os.makedirs(path, exist_ok=True)




def serve(warden, config, serve_session):
    filters = list(warnings.filters)
    names = os.environ.pop("ROOKERY_PRELOAD", "") or PRELOAD
    native.remember_arenas()
    loaded = _preload(names.replace(",", " ").split())
    warnings.filters[:] = filters
    _check_alone()
    gc.collect()
    gc.freeze()  # pages that the collector never writes to stay shared
    if not native.fork_loop(warden, config, " ".join(loaded)):
        raise SystemExit(1)
    # From here on in a jail, as a session's interpreter.
    _reseed()
    _private_directories()
    serve_session(3)

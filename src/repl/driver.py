# SPDX-License-Identifier: Apache-2.0
"""The interpreter of a session: runs cells that the server sends over a socket, one after another, for ever.

Started as `python -I -B driver.py`, with fd 3 the channel to the server, fds 0-2 /dev/null and two pipes, and the
workspace as working directory. `driver.py zygote` is the process that interpreters are forked from (rookery_repl/zygote.py);
each of them goes on with what prepare() made. The extension module and the package rookery_repl lie next to this file.

Environment, read by prepare() and then removed from os.environ:
  ROOKERY_NOFILE     limit on open files, soft and hard; 256
  ROOKERY_WORKSPACE  the directory that is importable and that a cell falls back to; /workspace
  ROOKERY_ECHO       1: show a last bare expression, as notebooks do
"""
import os
import sys


def _load_package():
    """Imports rookery_repl without leaving it, or this directory, where user code would find them."""
    directory = os.path.dirname(os.path.realpath(__file__))
    before = dict(sys.modules)
    sys.path.insert(0, directory)
    try:
        from rookery_repl import directories, session, zygote
    finally:
        sys.path.remove(directory)
        sys.path_importer_cache.pop(directory, None)
        for name in [name for name in sys.modules if name.partition(".")[0] == "rookery_repl"]:
            del sys.modules[name]
    before.pop(__name__, None)
    return directories, session, zygote, before


_directories, _session, _zygote, _core_modules = _load_package()


def warm_up():
    """Imports what a session would import at its first error, warning or await."""
    _session.warm_up()


def prepare():
    """What turns this process, or a fork of it, into the interpreter of a session, given the channel. That never returns."""
    settings = os.environ
    open_files = int(settings.pop("ROOKERY_NOFILE", "256"))
    workspace = settings.pop("ROOKERY_WORKSPACE", "/workspace")
    echo = settings.pop("ROOKERY_ECHO", "") == "1"
    sys.modules.pop(__name__, None)
    session = _session.Session(workspace, echo, _core_modules)

    def serve(channel):
        _directories.make()
        session.serve(channel, open_files)

    return serve


if __name__ == "__main__":
    if sys.argv[1:] == ["zygote"]:
        warm_up()
        _zygote.serve(3, 4, prepare)
    prepare()(3)

# SPDX-License-Identifier: Apache-2.0
"""Compiles a C++ program of this directory when it is asked for."""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile


@contextlib.contextmanager
def compiled(source, *flags):
    """The program, until the end of the block. Throws RuntimeError when it cannot be made."""
    if shutil.which("g++") is None:
        raise RuntimeError("--c-client and --floors need a compiler: apt-get install g++")
    with tempfile.TemporaryDirectory() as place:
        program = pathlib.Path(place) / "program"
        made = subprocess.run(["g++", "-O2", "-std=c++20", pathlib.Path(__file__).with_name(source), "-o", program, *flags],
                              capture_output=True, text=True)
        if made.returncode != 0:
            raise RuntimeError("%s does not compile:\n%s" % (source, made.stderr))
        yield program

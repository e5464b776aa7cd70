# SPDX-License-Identifier: Apache-2.0
"""The Python environment of the tests: packages from PyPI, pinned in test-requirements.txt, in build-venv/."""

import os
import pathlib
import shutil
import subprocess
import sys

REQUIREMENTS = pathlib.Path(__file__).resolve().parents[1] / "test-requirements.txt"
INSTALL_SECONDS = 600


def prepared(directory):
    """The environment's interpreter; it is made when it is missing or its list has changed. Throws RuntimeError."""
    python, stamp = directory / "bin" / "python3", directory / "installed"
    wanted = "%s\n%s" % (sys.version, REQUIREMENTS.read_text())
    if python.exists() and stamp.exists() and stamp.read_text() == wanted:
        return python
    print("installing the tests' Python packages into %s" % directory, file=sys.stderr, flush=True)
    shutil.rmtree(directory, ignore_errors=True)
    try:
        for command in ([sys.executable, "-m", "venv", directory],
                        [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", REQUIREMENTS]):
            subprocess.run(command, check=True, timeout=INSTALL_SECONDS, stdin=subprocess.DEVNULL, stdout=sys.stderr)
    except (OSError, subprocess.SubprocessError) as error:
        raise RuntimeError("the tests' Python packages (%s) cannot be installed from PyPI: %s" % (REQUIREMENTS, error)) from error
    stamp.write_text(wanted)
    return python


def enter(source):
    """Goes on in that environment, once. Returns why it cannot, or None."""
    directory = source / "build-venv"
    if pathlib.Path(sys.prefix) == directory:
        return None
    try:
        python = prepared(directory)
    except RuntimeError as error:
        return str(error)
    os.execv(python, [python, "-B", *sys.argv])

# SPDX-License-Identifier: Apache-2.0
"""Runs every test of this folder under every CPython >= 3.9 on this machine, all at once: they mostly wait.

ROOKERY_TEST_PYTHONS, separated by colons, names the interpreters instead.
"""
import glob
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
VERSION = "import sys; assert sys.version_info >= (3, 9) and sys.implementation.name == 'cpython'; print(*sys.version_info[:2])"


def candidates():
    named = os.environ.get("ROOKERY_TEST_PYTHONS")
    if named:
        return named.split(":")
    pyenv = os.environ.get("PYENV_ROOT") or os.path.expanduser("~/.pyenv")
    found = ["/usr/bin/python3", sys.executable]
    found += [shutil.which(f"python3.{minor}") for minor in range(9, 20)]
    return found + sorted(glob.glob(os.path.join(pyenv, "versions", "*", "bin", "python3")))


def interpreters():
    """One interpreter for each version."""
    found = {}
    for path in filter(None, candidates()):
        try:
            version = subprocess.run([path, "-I", "-c", VERSION], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout
        except (OSError, subprocess.CalledProcessError):
            continue
        found.setdefault(version.decode().strip().replace(" ", "."), path)
    return found


def main():
    running = {}
    for version, path in interpreters().items():
        variables = dict(os.environ, ROOKERY_TEST_PYTHON=path)
        running[version] = subprocess.Popen([sys.executable, "-B", "-m", "unittest", "discover", "-s", HERE], env=variables,
                                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    failed = not running
    for version, process in running.items():
        output = process.communicate()[0].decode("utf-8", "replace")
        print(f"--- Python {version}: {'passed' if process.returncode == 0 else 'FAILED'}\n{output}")
        failed = failed or process.returncode != 0
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

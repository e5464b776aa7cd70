# SPDX-License-Identifier: Apache-2.0
"""Random generators of NumPy that interpreters forked from one zygote have from its imports."""
import os
import pathlib
import shutil
import subprocess
import tempfile

from in_sessions import LegitTestCase

# One of each kind of generator, kept where modules keep them; the kinds' names are on numpy.random.
KEEPER = """
import numpy
from numpy.random import Generator, MT19937, PCG64, PCG64DXSM, Philox, RandomState, SFC64
new = {kind.__name__: Generator(kind(1)) for kind in (MT19937, PCG64, PCG64DXSM, Philox, SFC64)}
old = {kind.__name__: RandomState(kind(1)) for kind in (MT19937, PCG64, Philox)}
"""
DRAWS = """
import keeper, numpy
for generators in keeper.new, keeper.old:
    for name, generator in generators.items(): print(name, generator.random(2).tolist())
print('rand', numpy.random.rand(2).tolist()); print('normal', numpy.random.normal(size=2).tolist())
sample = [g.random(20000) for g in (*keeper.new.values(), *keeper.old.values())]
assert all(abs(s.mean() - 0.5) < 0.02 and abs(s.var() - 1 / 12) < 0.01 for s in sample), [(s.mean(), s.var()) for s in sample]
"""


def make_environment():
    """A virtual environment with NumPy of the tests' interpreter and the module above, where a jail can show it."""
    interpreter = os.environ["ROOKERY_TEST_PYTHON"]
    packages = subprocess.run([interpreter, "-c", "import numpy; print(numpy.__path__[0])"], check=True, capture_output=True, text=True)
    numpy = pathlib.Path(packages.stdout.strip())
    directory = pathlib.Path(tempfile.mkdtemp(prefix="generators-", dir="/var/cache/rookery-test"))
    subprocess.run([os.path.realpath(interpreter), "-m", "venv", "--without-pip", directory], check=True)
    directory.chmod(0o755)
    own = next(directory.glob("lib/python3*/site-packages"))
    shutil.copytree(numpy, own / "numpy")
    shutil.copytree(numpy.parent / "numpy.libs", own / "numpy.libs")
    (own / "keeper.py").write_text(KEEPER)
    return directory


class Generators(LegitTestCase):
    @classmethod
    def setUpClass(cls):
        environment = make_environment()
        cls.addClassCleanup(shutil.rmtree, environment)
        cls.settings = {"SANDBOX_PYTHON": str(environment / "bin" / "python3"), "SANDBOX_PRELOAD": "keeper"}
        super().setUpClass()

    def test_sessions_draw_nothing_alike(self):
        drawn = []
        for _ in range(3):
            result = self.new_session().code(DRAWS)
            self.assertEqual((result.return_code, result.stderr), (0, ""), result)
            drawn.append(result.stdout.splitlines())
        self.assertEqual(len(drawn[0]), 10)
        for lines in zip(*drawn):
            self.assertEqual(len(set(lines)), len(drawn), lines)

# SPDX-License-Identifier: Apache-2.0
"""What the driver's own code runs on: builtins that user code cannot replace, and the extension module.

A module that binds BUILTINS as its global `__builtins__` before it defines functions has them looked up there.
"""
import builtins
import os
from importlib.machinery import ExtensionFileLoader, ModuleSpec

BUILTINS = dict(vars(builtins))

DIRECTORY = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))


def _load_extension():
    # By path, and never into sys.modules: user code has no business with it.
    path = os.path.join(DIRECTORY, "_rookery.abi3.so")
    loader = ExtensionFileLoader("_rookery", path)
    module = loader.create_module(ModuleSpec("_rookery", loader, origin=path))
    loader.exec_module(module)
    return module


native = _load_extension()

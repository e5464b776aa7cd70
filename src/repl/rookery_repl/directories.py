# SPDX-License-Identifier: Apache-2.0
"""The directories below /tmp that programs keep caches and settings in, and what an image has ready for them."""
import contextlib
import os
import sys

# Of an image whose matplotlib has looked for fonts already (container/Dockerfile).
_FONT_CACHE = os.path.join(sys.prefix, "share", "rookery", "matplotlib")


def make():
    """Makes those that the environment names, as far as the session lets: what it has put there itself stays."""
    with contextlib.suppress(OSError):
        _make()


def _make():
    for variable in ("MPLCONFIGDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME"):
        path = os.environ.get(variable)
        if path:
            os.makedirs(path, exist_ok=True)
    path = os.environ.get("MPLCONFIGDIR")
    if path and os.path.isdir(_FONT_CACHE):
        for name in os.listdir(_FONT_CACHE):
            link = os.path.join(path, name)
            if not os.path.lexists(link):
                os.symlink(os.path.join(_FONT_CACHE, name), link)

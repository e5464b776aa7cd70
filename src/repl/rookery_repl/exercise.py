# SPDX-License-Identifier: Apache-2.0
"""Uses what the zygote has imported, a little, the way sessions begin.

Libraries load parts of themselves at their first use, and the interpreter rewrites code as it runs it: done once here, neither
is done in every session, and the memory that it takes stays shared. Nothing of it may be seen later: what an exercise makes it
drops, and figures and fonts are closed.
"""
import contextlib
import gc
import io
import sys

_ROUNDS = 3  # so that the interpreter has settled on the code


def _pandas(pandas):
    frame = pandas.DataFrame({"name": ["a", "b", "a", "c"], "value": [1.5, 2.5, 3.5, 4.0], "count": [1, 2, 3, 4]})
    frame.describe()
    frame.groupby("name").agg({"value": "mean", "count": "sum"}).reset_index()
    frame.sort_values("value", ascending=False).head(2)
    frame[frame["value"] > 2].merge(frame, on="name").sum(numeric_only=True)
    frame.info(buf=io.StringIO())
    pandas.read_csv(io.StringIO(frame.to_csv(index=False)))
    repr(frame), repr(frame["value"]), frame.to_string(), frame.isna().sum()
    pandas.to_datetime(pandas.Series(["2024-01-01", "2024-02-01"])).dt.month


def _numpy(numpy):
    numbers = numpy.arange(12.0).reshape(3, 4)
    repr(numbers), str(numbers.mean(axis=0)), numbers @ numbers.T, numpy.linalg.inv(numpy.eye(3))
    numpy.random.default_rng(1).normal(size=3), numpy.linspace(0, 1, 5), numpy.sort(numbers, axis=None)


def _pyplot(pyplot):
    for kind in ("plot", "bar", "scatter"):
        figure, axes = pyplot.subplots()
        getattr(axes, kind)([1, 2, 3], [1, 4, 9])
        axes.set_title("title")
        axes.set_xlabel("x")
        figure.savefig(io.BytesIO(), format="png")
        pyplot.close(figure)


_EXERCISES = {"numpy": _numpy, "pandas": _pandas, "matplotlib.pyplot": _pyplot}


def _close_fonts():
    manager = sys.modules.get("matplotlib.font_manager")
    with contextlib.suppress(AttributeError):
        manager._get_font.cache_clear()


def exercise(loaded):
    """Best effort: a version of a library that lacks something is used a little less."""
    for _ in range(_ROUNDS):
        for name, use in _EXERCISES.items():
            if name in loaded:
                with contextlib.suppress(Exception):
                    use(sys.modules[name])
    _close_fonts()
    gc.collect()

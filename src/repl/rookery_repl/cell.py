# SPDX-License-Identifier: Apache-2.0
"""Source text to code objects."""
from rookery_repl.private import BUILTINS as __builtins__

import _ast

_TOP_LEVEL_AWAIT = 0x2000  # ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_ONLY_AST = 0x400          # ast.PyCF_ONLY_AST
_COROUTINE = 0x80          # inspect.CO_COROUTINE


class Compiler:
    def __init__(self, echo):
        self._echo = echo
        self.flags = 0  # of `from __future__ import ...` in cells so far

    def compile(self, text, name):
        """(code objects, show): they run in this order; the value of the last is shown if `show`."""
        if self._echo:
            body, last = self._split(text, name)
            if last is not None:
                codes = [self._code(body, name, "exec")] if body.body else []
                return codes + [self._code(last, name, "eval")], True
        code = self._code(text, name, "exec")
        if "__future__" in code.co_names:
            self._remember_future(code)
        return [code], False

    def _code(self, source, name, mode):
        return compile(source, name, mode, self.flags | _TOP_LEVEL_AWAIT, True)

    def _split(self, text, name):
        tree = compile(text, name, "exec", self.flags | _TOP_LEVEL_AWAIT | _ONLY_AST, True)
        if not tree.body or not isinstance(tree.body[-1], _ast.Expr):
            return tree, None
        last = tree.body.pop().value
        # In an AST columns count bytes.
        line = text.split("\n")[last.end_lineno - 1].encode("utf-8", "surrogatepass")
        if line[last.end_col_offset:].lstrip(b" \t)").startswith(b";"):
            return tree, None
        return tree, _ast.Expression(body=last)

    def _remember_future(self, code):
        import __future__ as features
        for name in features.all_feature_names:
            self.flags |= code.co_flags & getattr(features, name).compiler_flag


def awaits(code):
    return bool(code.co_flags & _COROUTINE)


def mentions(codes, *modules):
    """True when the top level of a cell names one of the modules, as its import does."""
    for code in codes:
        for module in modules:
            if module in code.co_names:
                return True
    return False


def decode(source):
    """The text of a cell, with the line ends that the compiler counts."""
    text = source.decode("utf-8")
    if text.startswith("\ufeff"):
        text = text[1:]
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text

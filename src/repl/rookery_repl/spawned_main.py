# SPDX-License-Identifier: Apache-2.0
# The main program of a process that was spawned from a session. It repeats what the cells define: imports,
# functions, classes and simple constants, but nothing that computes or prints. A definition that fails here, because it
# builds on a variable of the session, is left out: whoever uses it gets a NameError.


def _define(cells):
    import ast
    import linecache

    definitions = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Import, ast.ImportFrom)
    top_level_await = 0x2000

    def constant(node):
        try:
            ast.literal_eval(node)
        except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
            return False
        return True

    def wanted(node):
        if isinstance(node, definitions + (ast.Pass,)):
            return True
        if isinstance(node, ast.Assign):
            return constant(node.value) and all(isinstance(target, ast.Name) for target in node.targets)
        if isinstance(node, ast.AnnAssign):
            return node.value is not None and constant(node.value) and isinstance(node.target, ast.Name)
        if isinstance(node, ast.If):
            return all(map(wanted, node.body + node.orelse))
        if isinstance(node, ast.Try):
            handlers = [statement for handler in node.handlers for statement in handler.body]
            return all(map(wanted, node.body + handlers + node.orelse + node.finalbody))
        return False

    for name, text, flags in cells:
        linecache.cache[name] = len(text), None, [line + "\n" for line in text.split("\n")], name
        try:
            statements = compile(text, name, "exec", flags | top_level_await | ast.PyCF_ONLY_AST, True).body
        except (SyntaxError, ValueError, MemoryError, RecursionError):
            continue
        for statement in filter(wanted, statements):
            try:
                exec(compile(ast.Module([statement], []), name, "exec", flags, True), globals())
            except Exception:
                pass

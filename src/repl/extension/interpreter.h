// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

// The few things the driver asks of the interpreter in C, because Python code could be disturbed while it
// does them: by a signal between two bytecodes, by a trace function, or by a lowered recursion limit.
namespace rookery::repl {

// Remembers sys.settrace and the like, before user code can replace them. False with an exception set.
bool remember_interpreter() noexcept;

// Switches trace and profile functions off and undoes a recursion limit below the one at start.
void calm_interpreter() noexcept;

// Runs Python handlers of signals that came in, and drops what they raise: they belong to a cell that ended.
void drop_tripped_signals() noexcept;

// callable(*arguments) with every signal let through; SIGINT raises KeyboardInterrupt inside the call only.
PyObject* call_interruptible(PyObject* callable, PyObject* arguments) noexcept;

// Puts back every item of `saved` that `target` has lost or replaced. Additions stay. False with an exception set.
bool restore_items(PyObject* target, PyObject* saved) noexcept;

}  // namespace rookery::repl

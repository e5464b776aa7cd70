// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

namespace rookery::repl {

// An interpreter writes to every object that it uses: it counts references. So a page of shared objects is copied as soon as a
// session uses one of them. Where the interpreter knows immortal objects, whose counts it leaves alone (PEP 683, CPython 3.12),
// everything that `roots`, a list, and what it leads to hold is made immortal. Elsewhere this does nothing.
// False with a Python exception set when `roots` is no list.
bool make_immortal(PyObject* roots);

}  // namespace rookery::repl

// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include <exception>

#include "repl/extension/descriptors.h"
#include "repl/extension/immortal.h"
#include "repl/extension/interpreter.h"
#include "repl/extension/serve.h"
#include "repl/extension/shared_heap.h"
#include "repl/extension/zygote.h"

// The extension module `_rookery`: what the driver (driver.py, rookery_repl/) cannot do in Python, or not
// safely. Built against the limited API of Python 3.9, so that one build serves every later CPython.
namespace {

namespace repl = rookery::repl;

PyObject* none_if(bool ok) {
  if (!ok) return nullptr;
  Py_RETURN_NONE;
}

PyObject* claim_process(PyObject*, PyObject* arguments) {
  int channel;
  unsigned long open_files;
  const char* workspace;
  if (PyArg_ParseTuple(arguments, "iks", &channel, &open_files, &workspace) == 0) return nullptr;
  return none_if(repl::claim_process(channel, open_files, workspace));
}

PyObject* serve(PyObject*, PyObject* arguments) {
  PyObject *run_cell, *tidy;
  if (PyArg_ParseTuple(arguments, "OO", &run_cell, &tidy) == 0) return nullptr;
  repl::serve(run_cell, tidy);
}

PyObject* restore_process(PyObject*, PyObject*) { return repl::restore_process(); }

PyObject* restore_descriptors(PyObject*, PyObject*) {
  repl::restore_descriptors();
  Py_RETURN_NONE;
}

PyObject* restore_items(PyObject*, PyObject* arguments) {
  PyObject *target, *saved;
  if (PyArg_ParseTuple(arguments, "O!O!", &PyDict_Type, &target, &PyDict_Type, &saved) == 0) return nullptr;
  return none_if(repl::restore_items(target, saved));
}

PyObject* interruptible(PyObject*, PyObject* arguments) {
  PyObject* callable = PyTuple_GetItem(arguments, 0);  // borrowed
  if (callable == nullptr) return nullptr;
  PyObject* rest = PyTuple_GetSlice(arguments, 1, PyTuple_Size(arguments));
  if (rest == nullptr) return nullptr;
  PyObject* result = repl::call_interruptible(callable, rest);
  Py_DECREF(rest);
  return result;
}

// exec() and eval() without a frame of the driver's and without looking at builtins that user code may replace.
PyObject* evaluate(PyObject*, PyObject* arguments) {
  PyObject *code, *globals;
  if (PyArg_ParseTuple(arguments, "OO!", &code, &PyDict_Type, &globals) == 0) return nullptr;
  return PyEval_EvalCode(code, globals, globals);
}

PyObject* write_error(PyObject*, PyObject* arguments) {
  const char* text;
  Py_ssize_t size;
  if (PyArg_ParseTuple(arguments, "y#", &text, &size) == 0) return nullptr;
  Py_BEGIN_ALLOW_THREADS;
  repl::write_all(2, {text, static_cast<std::size_t>(size)});
  Py_END_ALLOW_THREADS;
  Py_RETURN_NONE;
}

PyObject* fork_loop(PyObject*, PyObject* arguments) {
  int warden, config;
  const char* preloaded;
  if (PyArg_ParseTuple(arguments, "iis", &warden, &config, &preloaded) == 0) return nullptr;
  return PyBool_FromLong(repl::fork_loop(warden, config, preloaded));
}

PyObject* remember_arenas(PyObject*, PyObject*) {
  try {
    repl::remember_arenas();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_OSError, error.what());
    return nullptr;
  }
  Py_RETURN_NONE;
}

PyObject* make_immortal(PyObject*, PyObject* roots) { return none_if(repl::make_immortal(roots)); }

PyMethodDef methods[] = {
    {"remember_arenas", remember_arenas, METH_NOARGS, "Called before what fork_loop() shares is imported."},
    {"make_immortal", make_immortal, METH_O, "make_immortal(objects): a list; what they hold is made immortal, too."},
    {"fork_loop", fork_loop, METH_VARARGS, "fork_loop(warden, config, preloaded): returns in new interpreters"},
    {"claim_process", claim_process, METH_VARARGS, "claim_process(channel, open_files, workspace)"},
    {"serve", serve, METH_VARARGS, "serve(run_cell, tidy): never returns"},
    {"restore_process", restore_process, METH_NOARGS, "Signals whose dispositions were put back."},
    {"restore_descriptors", restore_descriptors, METH_NOARGS, "Puts fds 0-2 back."},
    {"restore_items", restore_items, METH_VARARGS, "restore_items(target, saved), both dicts"},
    {"interruptible", interruptible, METH_VARARGS, "interruptible(callable, *arguments)"},
    {"evaluate", evaluate, METH_VARARGS, "evaluate(code, globals)"},
    {"write_error", write_error, METH_VARARGS, "Writes bytes to fd 2, all of them."},
    {nullptr, nullptr, 0, nullptr},
};

// Multi-phase initialisation, because the other kind enters the module into sys.modules by itself.
PyModuleDef_Slot slots[] = {{0, nullptr}};

PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_rookery", nullptr, 0, methods, slots, nullptr, nullptr, nullptr,
};

}  // namespace

PyMODINIT_FUNC PyInit__rookery(void) { return PyModuleDef_Init(&definition); }

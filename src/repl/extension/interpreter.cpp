// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/interpreter.h"

#include "repl/extension/process_state.h"

namespace rookery::repl {

namespace {

// One hook of sys: how to read it and how to set it. Owned for the life of the process.
struct Hook {
  const char* getter_name;
  const char* setter_name;
  PyObject* getter = nullptr;
  PyObject* setter = nullptr;
};

Hook hooks[] = {{"gettrace", "settrace"}, {"getprofile", "setprofile"}};
int start_recursion_limit = 0;

PyObject* sys_function(const char* name) noexcept {
  PyObject* function = PySys_GetObject(name);  // borrowed
  Py_XINCREF(function);
  return function;
}

void clear_hook(const Hook& hook) noexcept {
  PyObject* current = PyObject_CallObject(hook.getter, nullptr);
  if (current != nullptr && current != Py_None) {
    Py_XDECREF(PyObject_CallFunctionObjArgs(hook.setter, Py_None, nullptr));
  }
  Py_XDECREF(current);
  PyErr_Clear();
}

}  // namespace

bool remember_interpreter() noexcept {
  for (Hook& hook : hooks) {
    hook.getter = sys_function(hook.getter_name);
    hook.setter = sys_function(hook.setter_name);
    if (hook.getter == nullptr || hook.setter == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, "this interpreter has no trace hooks");
      return false;
    }
  }
  start_recursion_limit = Py_GetRecursionLimit();
  return true;
}

void calm_interpreter() noexcept {
  for (const Hook& hook : hooks) clear_hook(hook);
  if (Py_GetRecursionLimit() < start_recursion_limit) Py_SetRecursionLimit(start_recursion_limit);
}

void drop_tripped_signals() noexcept {
  // A handler that raises ends PyErr_CheckSignals early; a few rounds reach the others.
  for (int round = 0; round < 8 && PyErr_CheckSignals() != 0; ++round) PyErr_Clear();
  PyErr_Clear();
}

PyObject* call_interruptible(PyObject* callable, PyObject* arguments) noexcept {
  release_signals();
  PyObject* result = PyObject_Call(callable, arguments, nullptr);
  hold_interrupt();
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  calm_interpreter();
  drop_tripped_signals();
  PyErr_Restore(type, value, traceback);
  return result;
}

bool restore_items(PyObject* target, PyObject* saved) noexcept {
  PyObject *key, *value;
  Py_ssize_t position = 0;
  while (PyDict_Next(saved, &position, &key, &value)) {
    PyObject* current = PyDict_GetItemWithError(target, key);  // borrowed
    if (current == value) continue;
    if (current == nullptr && PyErr_Occurred() != nullptr) return false;
    if (PyDict_SetItem(target, key, value) != 0) return false;
  }
  return true;
}

}  // namespace rookery::repl

// SPDX-License-Identifier: Apache-2.0
#include <Python.h>

#include "repl/extension/immortal.h"

#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <unordered_set>
#include <vector>

namespace rookery::repl {

namespace {

// The half of the count that says whether an object is immortal, which it is when the sign bit is set. The other half is part
// of the count in 3.12 and 3.13, and flags of the object later.
std::uint32_t count_of(PyObject* object) noexcept {
  std::uint32_t count;
  std::memcpy(&count, &object->ob_refcnt, sizeof count);
  return count;
}

bool is_immortal(PyObject* object) noexcept { return static_cast<std::int32_t>(count_of(object)) < 0; }

class Immortals {
 public:
  void add(PyObject* object) {
    if (is_static_type(object) && static_types_.insert(object).second) pending_.push_back(object);
    if (is_immortal(object)) return;
    const std::uint32_t count = count_of(Py_None);
    std::memcpy(&object->ob_refcnt, &count, sizeof count);
    pending_.push_back(object);
  }
  // A root may be immortal already and lead to objects that are not.
  void add_root(PyObject* object) {
    if (is_immortal(object)) {
      follow(object);
    } else {
      add(object);
    }
  }
  void follow_all() {
    while (!pending_.empty()) {
      PyObject* const object = pending_.back();
      pending_.pop_back();
      follow(object);
    }
  }

 private:
  static bool is_static_type(PyObject* object) noexcept {
    return PyType_Check(object) != 0 && (PyType_GetFlags(reinterpret_cast<PyTypeObject*>(object)) & Py_TPFLAGS_HEAPTYPE) == 0;
  }

  static int visit(PyObject* object, void* self) noexcept {
    static_cast<Immortals*>(self)->add(object);
    return 0;
  }

  void follow(PyObject* object) {
    add(reinterpret_cast<PyObject*>(Py_TYPE(object)));
    // The collector does not know these, so they cannot be traversed.
    if (is_static_type(object)) return follow_attributes(object, {"__mro__", "__bases__", "__dict__"});
    // What the collector tracks can be traversed, and of the rest these two kinds, which it lets go where it may.
    if (PyObject_GC_IsTracked(object) == 0 && PyTuple_CheckExact(object) == 0 && PyDict_CheckExact(object) == 0) return follow_code(object);
    // A dict does not show the collector keys that are strings.
    if (PyDict_Check(object) != 0) {
      PyObject *key, *value;
      for (Py_ssize_t at = 0; PyDict_Next(object, &at, &key, &value) != 0;) add(key);
    }
    const auto traverse = reinterpret_cast<traverseproc>(PyType_GetSlot(Py_TYPE(object), Py_tp_traverse));
    if (traverse != nullptr) traverse(object, &visit, this);
  }

  // Nor does code show the tuples of its constants and names.
  void follow_code(PyObject* object) {
    if (code_type_ == nullptr) {
      PyObject* const code = Py_CompileString("0", "", Py_eval_input);
      if (code == nullptr) return PyErr_Clear();
      code_type_ = Py_TYPE(code);
      Py_DECREF(code);
    }
    if (Py_TYPE(object) == code_type_) follow_attributes(object, {"co_consts", "co_names", "co_name", "co_qualname", "co_filename"});
  }

  void follow_attributes(PyObject* object, std::initializer_list<const char*> names) {
    for (const char* name : names) {
      PyObject* const part = PyObject_GetAttrString(object, name);
      if (part == nullptr) {
        PyErr_Clear();
        continue;
      }
      add(part);
      Py_DECREF(part);
    }
  }

  std::vector<PyObject*> pending_;
  std::unordered_set<PyObject*> static_types_;
  PyTypeObject* code_type_ = nullptr;
};

}  // namespace

bool make_immortal(PyObject* roots) {
  const Py_ssize_t count = PyList_Size(roots);
  if (count < 0) return false;
  if (!is_immortal(Py_None)) return true;
  Immortals immortals;
  for (Py_ssize_t i = 0; i < count; ++i) immortals.add_root(PyList_GetItem(roots, i));
  immortals.follow_all();
  // Its entries hold names that C code has, which nothing here leads to; replacing one would write to where the name is.
  PyType_ClearCache();
  return true;
}

}  // namespace rookery::repl

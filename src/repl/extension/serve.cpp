// SPDX-License-Identifier: Apache-2.0
#include "repl/extension/serve.h"

#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>

#include "repl/extension/channel.h"
#include "repl/extension/descriptors.h"
#include "repl/extension/interpreter.h"
#include "repl/extension/process_state.h"

namespace rookery::repl {

namespace {

struct Session {
  PrivateDescriptors descriptors;
  SignalDispositions dispositions;
  std::string workspace;
  pid_t pid = 0;
};

// One a process: signal dispositions and descriptors are the process's own.
Session session;

struct Outcome {
  int return_code = 1;
  unsigned int error = 0;
};

// What a cell frees at the end of the heap stays, up to this much, for the next one: else printing a megabyte is mostly faulting
// pages in and giving them back (mallopt(3)).
void keep_some_memory() noexcept {
  constexpr int kKept = 4 << 20;  // bytes
  ::mallopt(M_MMAP_THRESHOLD, kKept);
  ::mallopt(M_TRIM_THRESHOLD, kKept);
}

// A fork must neither read requests nor answer them. Copies made without fork(3) are stopped by the pid.
void close_channel_in_fork() { ::close(session.descriptors.channel); }

Outcome run(PyObject* run_cell, const Request& request) noexcept {
  Outcome outcome;
  PyObject* result =
      request.error != 0
          ? PyObject_CallFunction(run_cell, "Oi", Py_None, request.error)
          : PyObject_CallFunction(run_cell, "y#i", request.source.data(),
                                  static_cast<Py_ssize_t>(request.source.size()), 0);
  if (result == nullptr || PyArg_ParseTuple(result, "iI", &outcome.return_code, &outcome.error) == 0) {
    // The driver handles whatever a cell raises. An interrupt that came in its last moments fails the call; anything else is
    // damage to the driver itself: a fresh one takes over.
    const bool interrupted = PyErr_Occurred() != nullptr && PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0;
    if (!interrupted) {
      std::fflush(nullptr);
      ::_exit(kExitBroken);
    }
    PyErr_Clear();
  }
  Py_XDECREF(result);
  return outcome;
}

Receive receive_unlocked(Request& request) {
  Receive received;
  Py_BEGIN_ALLOW_THREADS;  // the user's threads run on between calls
  received = receive_request(session.descriptors.channel, request);
  Py_END_ALLOW_THREADS;
  return received;
}

bool answer_unlocked(const Request& request, const Outcome& outcome) {
  bool sent;
  Py_BEGIN_ALLOW_THREADS;
  std::fflush(nullptr);  // what C code left in stdio belongs to this call
  sent = send_finished(session.descriptors.channel, request.nonce, outcome.return_code, outcome.error);
  Py_END_ALLOW_THREADS;
  return sent;
}

}  // namespace

bool claim_process(int channel, unsigned long open_files, const char* workspace) noexcept {
  if (!remember_interpreter()) return false;
  hold_interrupt();
  if (const int error = claim_descriptors(channel, open_files, session.descriptors)) {
    errno = error;
    PyErr_SetFromErrno(PyExc_OSError);
    return false;
  }
  session.dispositions.remember();
  remember_interrupt_handler();
  session.workspace = workspace;
  session.pid = ::getpid();
  ::pthread_atfork(nullptr, nullptr, close_channel_in_fork);
  keep_some_memory();
  return true;
}

PyObject* restore_process() noexcept {
  leave_lost_directory(session.workspace.c_str());
  bool changed[SignalDispositions::kCount];
  PyObject* numbers = PyList_New(0);
  if (numbers == nullptr || !session.dispositions.restore(changed)) return numbers;
  for (int number = 1; number < SignalDispositions::kCount; ++number) {
    if (!changed[number]) continue;
    PyObject* item = PyLong_FromLong(number);
    if (item != nullptr) PyList_Append(numbers, item);
    Py_XDECREF(item);
  }
  return numbers;
}

void restore_descriptors() noexcept {
  if (restore_standard(session.descriptors) != 0) ::_exit(kExitBroken);
}

void serve(PyObject* run_cell, PyObject* tidy) {
  ignore_interrupts();
  if (!prepare_channel(session.descriptors.channel) || !send_ready(session.descriptors.channel)) ::_exit(kExitBroken);
  Request request;
  for (;;) {
    const Receive received = receive_unlocked(request);
    if (received != Receive::kRequest) ::_exit(received == Receive::kClosed ? kExitClosed : kExitBroken);
    expect_interrupts();
    restore_descriptors();
    drop_tripped_signals();
    const Outcome outcome = run(run_cell, request);
    if (::getpid() != session.pid) {
      std::fflush(nullptr);
      ::_exit(outcome.return_code & 0xff);
    }
    ignore_interrupts();
    cancel_timers();  // an alarm that nobody waits for any more would kill the interpreter
    if (!answer_unlocked(request, outcome)) ::_exit(kExitBroken);
    if (request.cpu >= 0) ::sched_yield();  // to the server's thread, which waits on this processor for the answer
    Py_XDECREF(PyObject_CallObject(tidy, nullptr));
    PyErr_Clear();
  }
}

}  // namespace rookery::repl

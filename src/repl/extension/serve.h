// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <Python.h>

// A session as the extension sees it: claim the descriptors once, then one request after another, for ever.
namespace rookery::repl {

// Exit statuses of an interpreter that ends without user code asking for it.
constexpr int kExitClosed = 0;   // the server closed the channel
constexpr int kExitBroken = 70;  // channel or private descriptors are gone (EX_SOFTWARE of sysexits.h)

// Takes the process over: private descriptors, limit on open files, signal state. `workspace` is where a
// cell starts whose working directory is gone. False with an exception set.
bool claim_process(int channel, unsigned long open_files, const char* workspace) noexcept;

// The state between cells: working directory, signal dispositions. Returns the numbers
// of signals whose disposition had to be put back, so that Python's own table can follow, or null.
PyObject* restore_process() noexcept;

// Fds 0-2 only, for what the driver writes after a cell. Does not return when they are lost.
void restore_descriptors() noexcept;

// Tells the server that the interpreter is ready, then runs run_cell(source, error) for each request:
// source is bytes, or None with the errno that kept it from being read. It returns (return code, errno).
// A KeyboardInterrupt from it answers 1; any other exception means that the driver itself is damaged: the process ends. After
// each answer tidy() is called: what can be put back then costs no call any time.
// Never returns; a fork of the process that comes out of a cell ends there.
[[noreturn]] void serve(PyObject* run_cell, PyObject* tidy);

}  // namespace rookery::repl

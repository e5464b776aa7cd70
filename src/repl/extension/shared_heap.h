// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::repl {

// What a zygote has on its heap and in its libraries' data is the same in every interpreter forked from it, but fork(2) copies the
// page table entries of anonymous memory one by one, and exit frees them one by one: for 70 MB of imported modules that is most of
// what a session costs. A private mapping of a file is copied by its first use instead, page by page, and only where it is used.
// So the zygote, once everything is imported, moves both into an unnamed file, mapped privately at the same addresses. No process
// can write to the file, which is sealed; what one writes to its memory stays its own.

// From here on the interpreter's arenas are remembered. Without effect where the interpreter does not let them be.
// Throws std::system_error.
void remember_arenas();

// Moves malloc's main heap, the remembered arenas and the libraries' data, and makes the rest of each library one mapping. The
// process must have one thread. What cannot be moved stays as it is, which is correct and only slower. Throws std::system_error
// where memory may have been lost: the process must end.
void share_heap();

}  // namespace rookery::repl

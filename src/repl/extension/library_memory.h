// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace rookery::repl {

// Addresses, in whole pages.
struct Range {
  std::uintptr_t begin, end;
};

// A shared library is five or six mappings, and hundreds are loaded: a fork copies each of them and an exit removes it.

// What is writable of the program and its libraries: data, what is zero at first, and what the dynamic linker has made read-only
// after it had written to it (PT_GNU_RELRO).
std::vector<Range> library_data();

// Makes the rest of each library one mapping, readable and executable: constants lie before and behind the code. Where the kernel
// refuses, they stay as they are.
void merge_library_text() noexcept;

}  // namespace rookery::repl

# SPDX-License-Identifier: Apache-2.0
"""Writes a C++ file that carries other files inside the program.

embed.py OUTPUT NAME=PATH ...   (see util/embedded.h)
"""
import os
import sys

output, *entries = sys.argv[1:]
files = [entry.split("=", 1) for entry in entries]
lines = ['#include "util/embedded.h"', "#include <array>", "#include <stdexcept>", "#include <string>", ""]
for number, (name, path) in enumerate(files):
    lines.append(
        f'asm(".pushsection .rodata\\n.balign 16\\nrookery_embedded_{number}:\\n'
        f'.incbin \\"{os.path.abspath(path)}\\"\\nrookery_embedded_{number}_end:\\n.byte 0\\n.popsection\\n");'
    )
    # Hidden: through a table of addresses the assembler of arm64 loses where in the section a local label is.
    lines.append(f'extern "C" [[gnu::visibility("hidden")]] const char rookery_embedded_{number}[], rookery_embedded_{number}_end[];')
lines += ["", "namespace rookery::util {", "", "std::vector<EmbeddedFile> embedded_files() {", "  return {"]
for number, (name, path) in enumerate(files):
    begin, end = f"rookery_embedded_{number}", f"rookery_embedded_{number}_end"
    lines.append(f'    {{"{name}", {{{begin}, static_cast<std::size_t>({end} - {begin})}}}},')
lines += [
    "  };",
    "}",
    "",
    "std::string_view embedded_file(std::string_view name) {",
    "  for (const EmbeddedFile& file : embedded_files()) {",
    "    if (file.name == name) return file.content;",
    "  }",
    '  throw std::logic_error("no embedded file " + std::string(name));',
    "}",
    "",
    "}  // namespace rookery::util",
]
with open(output, "w", encoding="utf-8") as stream:
    stream.write("\n".join(lines) + "\n")

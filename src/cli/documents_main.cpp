// SPDX-License-Identifier: Apache-2.0
//
// Prints what is made from the table of settings at build time: README's table (tools/docs puts it there), the manual
// page and the completion.
#include <cstdio>
#include <cstring>

#include "cli/completion.h"
#include "cli/manual.h"
#include "cli/settings_text.h"

int main(int argc, char** argv) {
  using namespace rookery;
  const char* const kind = argc == 2 ? argv[1] : "";
  if (std::strcmp(kind, "readme") == 0) {
    std::fputs(cli::settings_markdown().c_str(), stdout);
  } else if (std::strcmp(kind, "man") == 0) {
    std::fputs(cli::manual_page(ROOKERY_VERSION).c_str(), stdout);
  } else if (std::strcmp(kind, "completion") == 0) {
    std::fputs(cli::bash_completion().c_str(), stdout);
  } else {
    std::fputs("documents readme|man|completion\n", stderr);
    return 2;
  }
  return 0;
}

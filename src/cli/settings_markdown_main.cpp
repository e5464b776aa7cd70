// SPDX-License-Identifier: Apache-2.0
//
// Prints README's table of settings; tools/docs puts it there.
#include <cstdio>

#include "cli/settings_text.h"

int main() {
  std::fputs(rookery::cli::settings_markdown().c_str(), stdout);
  return 0;
}

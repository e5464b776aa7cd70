// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include "cli/completion.h"
#include "cli/help.h"
#include "cli/manual.h"
#include "util/settings_table.h"

using namespace rookery;

TEST_CASE("the manual page and the completion know every command, and every setting that has a flag") {
  const std::string page = cli::manual_page("1.2"), completion = cli::bash_completion();
  for (const cli::CommandHelp& command : cli::command_helps()) {
    CHECK(page.find(".SS " + command.name + "\n") != std::string::npos);
    CHECK(completion.find("    " + command.name + ") words=") != std::string::npos);
  }
  for (const util::Setting* setting : util::all_settings()) {
    CAPTURE(setting->variable);
    CHECK(page.find("\\fB" + setting->variable + "\\fR\n") != std::string::npos);
    CHECK((completion.find(setting->secret ? setting->variable : setting->flag()) != std::string::npos) == !setting->secret);
  }
}

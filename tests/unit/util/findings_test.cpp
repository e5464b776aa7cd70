// SPDX-License-Identifier: Apache-2.0
#include "util/findings.h"

#include <doctest/doctest.h>

using namespace rookery::util;

TEST_CASE("findings come back as they were written, one a line") {
  const std::string text = write_findings({{"ok", "seccomp", "filters with kill_process"}, {"MISSING", "a\tb", "two\nlines"}, {"off", "landlock", ""}});
  const auto rows = read_findings(text);
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].what == "seccomp");
  CHECK(rows[0].text == "filters with kill_process");
  CHECK(rows[1].what == "a b");
  CHECK(rows[1].text == "two lines");
  CHECK(rows[2].state == "off");
  CHECK(rows[2].text.empty());
}

TEST_CASE("what is no finding is left out") {
  CHECK(read_findings("").empty());
  CHECK(read_findings("nothing\n\nok\tseccomp\n").empty());
  CHECK(read_findings("\n\nok\tseccomp\tx").size() == 1);
}

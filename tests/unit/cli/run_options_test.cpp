// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <doctest/doctest.h>

#include <stdexcept>

using rookery::cli::parse_run_options;
using Arguments = std::vector<std::string>;

TEST_CASE("a program comes as text, as a file or from stdin") {
  CHECK(parse_run_options({"-c", "print(1)"}).code == "print(1)");
  CHECK(parse_run_options({"-c", ""}).code == "");
  CHECK(parse_run_options({"a.py"}).program == "a.py");
  CHECK(parse_run_options({"-"}).program == "-");
  CHECK(parse_run_options({"--", "-x.py"}).program == "-x.py");
}

TEST_CASE("options take their value behind a space or an equals sign") {
  const auto options = parse_run_options({"--tool=bash", "--file", "a", "--file=b=c", "--out", "o", "--image", "i", "--timeout", "7", "-c", "x"});
  CHECK(options.bash);
  CHECK(options.files == Arguments{"a", "b=c"});
  CHECK(options.out == "o");
  CHECK(options.image == "i");
  CHECK(options.timeout_s == 7);
  CHECK(options.code == "x");
}

TEST_CASE("wrong usage is refused") {
  for (const Arguments& wrong : {Arguments{}, {"a", "b"}, {"-c", "x", "a"}, {"-c"}, {"--timeout", "0", "a"}, {"--timeout", "1.5", "a"},
                                 {"--tool", "perl", "a"}, {"--nonsense", "1", "a"}, {"-x", "a"}, {"a", "--out"}}) {
    CHECK_THROWS_AS(parse_run_options(wrong), std::invalid_argument);
  }
}

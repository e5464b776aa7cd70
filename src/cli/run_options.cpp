// SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.h"

#include <stdexcept>

#include "util/setting_kinds.h"

namespace rookery::cli {

namespace {

constexpr std::uint32_t kLongest = 86400;

void take(RunOptions& options, const std::string& option, const std::string& value) {
  if (option == "-c") {
    options.code = value;
  } else if (option == "--file") {
    options.files.push_back(value);
  } else if (option == "--out") {
    options.out = value;
  } else if (option == "--image") {
    options.image = value;
  } else if (option == "--tool") {
    if (value != "python" && value != "bash") throw std::invalid_argument("--tool=\"" + value + "\" is not usable: allowed is one of python, bash");
    options.bash = value == "bash";
  } else if (option == "--timeout") {
    if (!util::parse_number(value, options.timeout_s) || options.timeout_s < 1 || options.timeout_s > kLongest) {
      throw std::invalid_argument("--timeout=\"" + value + "\" is not usable: allowed is a whole number of seconds from 1 to " + std::to_string(kLongest));
    }
  } else {
    throw std::invalid_argument("unknown argument \"" + option + "\" (see rookery run --help)");
  }
}

}  // namespace

RunOptions parse_run_options(const std::vector<std::string>& arguments) {
  RunOptions options;
  std::vector<std::string> programs;
  bool only_names = false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (only_names || argument == "-" || !argument.starts_with('-')) {
      programs.push_back(argument);
      continue;
    }
    if (argument == "--") {
      only_names = true;
      continue;
    }
    const auto equals = argument.starts_with("--") ? argument.find('=') : std::string::npos;
    if (equals != std::string::npos) {
      take(options, argument.substr(0, equals), argument.substr(equals + 1));
    } else if (i + 1 < arguments.size()) {
      take(options, argument, arguments[++i]);
    } else {
      take(options, argument, "");
      throw std::invalid_argument(argument + " needs a value");
    }
  }
  if (programs.size() + (options.code ? 1 : 0) != 1) throw std::invalid_argument("rookery run needs one program: -c CODE, FILE, or - for stdin");
  if (!programs.empty()) options.program = programs.front();
  return options;
}

}  // namespace rookery::cli

// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "cli/check.h"
#include "cli/configuration.h"
#include "cli/help.h"
#include "cli/policy.h"
#include "cli/run.h"
#include "cli/settings_text.h"
#include "exporter/main.h"
#include "server/main.h"
#include "server/run_main.h"
#include "util/findings.h"
#include "util/settings.h"
#include "warden/handover.h"
#include "warden/launch.h"
#include "warden/main.h"
#include "warden/token_reader.h"

namespace {

using namespace rookery;

constexpr int kUsage = 2;

void print(std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); }

int serve(const cli::Configuration& configuration, const std::vector<std::string>&) {
  ::setenv(util::kFindingsVariable, cli::findings(configuration.settings).c_str(), 1);
  return warden::launch(configuration.settings);
}

int check(const cli::Configuration& configuration, const std::vector<std::string>& options) {
  return cli::check(configuration.settings, !options.empty());
}

int config(const cli::Configuration& configuration, const std::vector<std::string>& options) {
  print(options.empty() ? cli::config_listing(configuration) : cli::config_json(configuration));
  return 0;
}

int policy(const cli::Configuration&, const std::vector<std::string>& options) { return cli::policy(options); }

int version(const cli::Configuration&, const std::vector<std::string>&) {
  std::puts("rookery " ROOKERY_VERSION);
  return 0;
}

int run_program(std::vector<std::string> arguments) noexcept {
  try {
    cli::Configuration configuration = cli::read_configuration(arguments);
    return cli::run(std::move(configuration), cli::parse_run_options(arguments));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return cli::kRunFailed;
  }
}

using Command = int (*)(const cli::Configuration&, const std::vector<std::string>& options);
const std::map<std::string, Command> kCommands = {
    {"serve", &serve}, {"check", &check}, {"config", &config}, {"policy", &policy}, {"version", &version},
};

bool is_help(const std::string& argument) { return argument == "--help" || argument == "-h"; }

int run(const cli::CommandHelp& command, std::vector<std::string> arguments) {
  if (!arguments.empty() && is_help(arguments.front())) {
    print(command.text);
    if (command.name == "serve") print(cli::settings_help());
    return 0;
  }
  if (command.name == "run") return run_program(std::move(arguments));
  cli::Configuration configuration;
  if (command.takes_settings) configuration = cli::read_configuration(arguments);
  for (const std::string& argument : arguments) {
    if (std::find(command.options.begin(), command.options.end(), argument) != command.options.end()) continue;
    const std::string usage(command.text, std::strcspn(command.text, "\n"));
    std::fprintf(stderr, "rookery: unknown argument \"%s\"\nusage: %s\n", argument.c_str(), usage.c_str());
    return kUsage;
  }
  return kCommands.at(command.name)(configuration, arguments);
}

int run(std::vector<std::string> arguments) {
  const std::string name = arguments.empty() ? "" : arguments.front();
  if (is_help(name) || name == "help") {
    print(cli::kHelp);
    return 0;
  }
  if (!arguments.empty()) arguments.erase(arguments.begin());
  for (const cli::CommandHelp& command : cli::command_helps()) {
    if (name == command.name || (name == "--version" && command.name == "version")) return run(command, arguments);
  }
  std::fputs(cli::kHelp, stderr);
  return kUsage;
}

// What `rookery serve` wrote into the environment of the processes below it.
util::Settings inherited_settings() {
  util::Settings settings = util::settings_from_environment();
  util::forget_secrets();
  return settings;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // The roles that `rookery serve` starts come by their title (warden/handover.h).
    if (argc == 1 && std::strcmp(argv[0], warden::kWardenTitle) == 0) return warden::warden_main(inherited_settings());
    if (argc == 1 && std::strcmp(argv[0], warden::kServerTitle) == 0) return server::server_main(inherited_settings());
    if (argc == 1 && std::strcmp(argv[0], warden::kExporterTitle) == 0) return exporter::exporter_main(inherited_settings());
    if (argc == 1 && std::strcmp(argv[0], warden::kRunnerTitle) == 0) return server::run_main(inherited_settings());
    if (argc == 1 && std::strcmp(argv[0], warden::kReaderTitle) == 0) return warden::token_reader_main();
    return run({argv + 1, argv + argc});
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return 1;
  }
}

// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <vector>

#include "cli/check.h"
#include "cli/help.h"
#include "server/main.h"
#include "util/embedded.h"
#include "util/settings.h"
#include "warden/handover.h"
#include "warden/launch.h"
#include "warden/main.h"

namespace {

using namespace rookery;

constexpr int kUsage = 2;

int serve(const std::vector<std::string>& arguments) {
  util::Settings settings = util::settings_from_environment();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] != "--listen" || i + 1 == arguments.size()) {
      std::fprintf(stderr, "rookery: unknown argument \"%s\"\n%s", arguments[i].c_str(), cli::kServeHelp);
      return kUsage;
    }
    util::set_listen(settings, arguments[++i]);
  }
  return warden::launch(settings);
}

int run(const std::vector<std::string>& arguments) {
  const std::string command = arguments.empty() ? "" : arguments.front();
  const std::vector<std::string> rest(arguments.begin() + (arguments.empty() ? 0 : 1), arguments.end());
  const bool help = command == "--help" || command == "-h" || command == "help";
  if (help || (!rest.empty() && (rest.front() == "--help" || rest.front() == "-h"))) {
    std::fputs(command == "serve" ? cli::kServeHelp : command == "check" ? cli::kCheckHelp : cli::kHelp, stdout);
    return 0;
  }
  if (command == "serve") return serve(rest);
  if (command == "check" && rest.empty()) return cli::check(util::settings_from_environment());
  if (command == "version" || command == "--version") {
    std::puts("rookery " ROOKERY_VERSION);
    return 0;
  }
  if (command == "policy" && rest.empty()) {
    const std::string_view policy = util::embedded_file("policy/seccomp/session.json");
    std::fwrite(policy.data(), 1, policy.size(), stdout);
    return 0;
  }
  std::fputs(cli::kHelp, stderr);
  return kUsage;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    // The roles that `rookery serve` starts come by their title (warden/handover.h).
    if (argc == 1 && std::strcmp(argv[0], warden::kWardenTitle) == 0) return warden::warden_main(util::settings_from_environment());
    if (argc == 1 && std::strcmp(argv[0], warden::kServerTitle) == 0) return server::server_main(util::settings_from_environment());
    return run({argv + 1, argv + argc});
  } catch (const std::invalid_argument& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return kUsage;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rookery: %s\n", error.what());
    return 1;
  }
}

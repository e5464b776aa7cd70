// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rookery::cli {

inline constexpr const char* kHelp =
    "rookery: a hardened code-execution sandbox server\n"
    "\n"
    "  rookery serve [SETTING…]           serve the code-execution contract over HTTP\n"
    "  rookery check [SETTING…]           what this machine offers, and what is missing and how to get it\n"
    "  rookery run -c CODE | FILE | - …   run one program in one jail, without a server\n"
    "  rookery config [--json] [SETTING…] the settings in force, and where each came from\n"
    "  rookery policy [ROLE]              the seccomp policy of a role, as OCI JSON or pseudo code\n"
    "  rookery version\n"
    "\n"
    "`rookery COMMAND --help` says more; `rookery serve --help` lists the settings.\n"
    "Exit status: 0 success, 1 something is missing or failed, 2 wrong usage or configuration.\n";

inline constexpr const char* kServeHelp =
    "rookery serve [--listen HOST:PORT] [--config FILE] [SETTING…]\n"
    "\n"
    "Starts as root, makes its user namespace, gives root up, and serves HTTP on HOST:PORT (127.0.0.1:8080). An ordinary\n"
    "user can start it, too (README.md, \"Without root\").\n"
    "Prints one line when it is ready. SIGTERM or SIGINT: stops accepting, lets calls finish for up to 10 s, ends all\n"
    "sessions and leaves nothing behind. SIGUSR1: drains, which is to lease no new sessions.\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 1 when it cannot start or lost a process it needs, 2 for a wrong setting,\n"
    "128 + N when the warden was ended by signal N.\n"
    "\n"
    "A setting is a flag, a variable of the environment, or a member of the JSON object in the configuration file, under\n"
    "the variable's name. A flag goes over the environment, the environment over the file, the file over the default.\n";

inline constexpr const char* kCheckHelp =
    "rookery check [--timing] [SETTING…]\n"
    "\n"
    "Prints what rookery needs and what it found, a line each, with what to do where something is missing. As root it also\n"
    "makes a jail and runs Python in it. Takes the settings of `rookery serve`.\n"
    "--timing: also how long the steps of a jail's set-up take.\n"
    "Exit status: 0 when `rookery serve` can start, else 1; 2 for a wrong setting.\n";

inline constexpr const char* kRunHelp =
    "rookery run [--tool python|bash] [--file IN]… [--out DIR] [--image NAME] [--timeout SECONDS] [SETTING…]\n"
    "            -c CODE | FILE | -\n"
    "\n"
    "Runs one program in one jail, as `rookery serve` would with the same settings, without a server. Starts as root, which\n"
    "it gives up. What the program prints comes out as it is printed, without a limit; it reads nothing from stdin.\n"
    "\n"
    "  -c CODE              the program, as text\n"
    "  FILE, or - for stdin the program, from there\n"
    "  --tool python|bash   what runs it (python)\n"
    "  --file IN            put this file into /workspace, under its own name; may be given 100 times\n"
    "  --out DIR            afterwards bring the files that the program made or changed below /workspace there, but none\n"
    "                       whose name begins with a dot; those of the same name are replaced\n"
    "  --image NAME         the image to run in (default)\n"
    "  --timeout SECONDS    1 to 86400 (SANDBOX_DEFAULT_TIMEOUT)\n"
    "\n"
    "Without SANDBOX_SPAWN interpreters are executed here, not forked from a zygote.\n"
    "Exit status: the program's; 124 when its time was over, 137 when it was ended at a limit, 128 + N when signal N ended\n"
    "it, 130 after Ctrl-C, 125 when it could not be run, and for a wrong argument or setting.\n";

inline constexpr const char* kConfigHelp =
    "rookery config [--json] [SETTING…]\n"
    "\n"
    "Prints each setting that `rookery serve` would have in force with the same arguments, environment and file, and where\n"
    "it came from: default, file, environment or flag. Values that are secret are masked.\n"
    "  --json   as one JSON object {variable: {\"value\", \"default\", \"source\"}}\n"
    "Exit status: 0, or 2 for a wrong setting.\n";

inline constexpr const char* kVersionHelp =
    "rookery version\n"
    "\n"
    "Prints the version.\n";

inline constexpr const char* kPolicyHelp =
    "rookery policy [ROLE] [--pseudo-code]\n"
    "\n"
    "Prints the seccomp policy of a role in the OCI runtime-spec format, or with --pseudo-code what libseccomp makes of it\n"
    "for this machine. ROLE: session (without one), exporter, server, supervisor, token-reader, warden, zygote. A call has to pass all\n"
    "programs that were loaded: the warden's holds for everything below it, the zygote's for what it forks.\n"
    "\n"
    "Exit status: 0, or 2 for wrong usage.\n";

// One command, for the command line, the manual page and the completion.
struct CommandHelp {
  std::string name;
  const char* text;
  bool takes_settings = false;
  std::vector<std::string> options;  // its own
};

inline const std::vector<CommandHelp>& command_helps() {
  static const std::vector<CommandHelp> all = {
      {"serve", kServeHelp, true, {}},
      {"check", kCheckHelp, true, {"--timing"}},
      {"run", kRunHelp, true, {"-c", "--tool", "--file", "--out", "--image", "--timeout"}},
      {"config", kConfigHelp, true, {"--json"}},
      {"policy", kPolicyHelp, false, {"--pseudo-code", "session", "exporter", "server", "supervisor", "token-reader", "warden", "zygote"}},
      {"version", kVersionHelp, false, {}},
  };
  return all;
}

}  // namespace rookery::cli

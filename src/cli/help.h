// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rookery::cli {

inline constexpr const char* kHelp =
    "rookery: a hardened code-execution sandbox server\n"
    "\n"
    "  rookery serve [--listen HOST:PORT]   serve the code-execution contract (see rookery serve --help)\n"
    "  rookery check                        what this machine offers, and what is missing and how to get it\n"
    "  rookery policy                       the seccomp policy of a session, as OCI JSON\n"
    "  rookery version\n"
    "\n"
    "Exit status: 0 success, 1 something is missing or failed, 2 wrong usage or configuration.\n";

inline constexpr const char* kServeHelp =
    "rookery serve [--listen HOST:PORT]\n"
    "\n"
    "Starts as root, makes its user namespace, gives root up, and serves HTTP on HOST:PORT (127.0.0.1:8080).\n"
    "Prints one line when it is ready. SIGTERM or SIGINT: stops accepting, lets calls finish for up to 10 s, ends all\n"
    "sessions and leaves nothing behind. Settings come from the environment; README.md has the table.\n"
    "\n"
    "Exit status: 0 after SIGTERM or SIGINT, 1 when it cannot start or lost a process it needs, 2 for a wrong setting,\n"
    "128 + N when the warden was ended by signal N.\n";

inline constexpr const char* kCheckHelp =
    "rookery check\n"
    "\n"
    "Prints what rookery needs and what it found, a line each, with what to do where something is missing.\n"
    "Exit status: 0 when `rookery serve` can start, else 1.\n";

}  // namespace rookery::cli

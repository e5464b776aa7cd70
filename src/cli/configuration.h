// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "util/settings.h"
#include "util/settings_table.h"

namespace rookery::cli {

// The settings in force and where each came from: the default, else the configuration file, else the environment, else a
// flag; the last one that says something wins. An empty value in the environment or the file says nothing.
struct Configuration {
  util::Settings settings;
  // By variable: "file /etc/rookery.json", "environment", "flag --max-sessions". None: the default.
  std::map<std::string, std::string> sources;
};

// Takes the flags of settings, `--flag VALUE`, `--flag=VALUE` or for a switch `--flag`, out of `arguments`, up to "--";
// what is left is the command's own. Reads the configuration file where one is named. Secrets are wiped from the
// environment, as /proc shows it too, once they are read. Throws std::invalid_argument for a
// value that is not usable, with its name, what was given and what is allowed.
Configuration read_configuration(std::vector<std::string>& arguments);

}  // namespace rookery::cli

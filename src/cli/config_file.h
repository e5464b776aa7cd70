// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "util/settings_table.h"

namespace rookery::cli {

using FileSettings = std::vector<std::pair<const util::Setting*, std::string>>;

// A configuration file: one JSON object {variable: value}. A number is given as a number, a switch as true or false, all
// else as a string. Throws std::invalid_argument that names the file and what is wrong in it: no JSON, an unknown or
// repeated name, a value of the wrong type; whether it is in range is not looked at.
FileSettings parse_config_file(const std::string& path, std::string_view text);

// Reads the file at `path` first; throws the same where that fails.
FileSettings read_config_file(const std::string& path);

}  // namespace rookery::cli

// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "cli/configuration.h"

// The table of settings (util/settings_table.h) as text.
namespace rookery::cli {

// For --help: each setting with its flag, variable, meaning, range and default.
std::string settings_help();

// For README: one table.
std::string settings_markdown();

// What is in force and where it came from, a line each; secrets are masked.
std::string config_listing(const Configuration& configuration);

// The same as JSON: {variable: {"value", "default", "source"}}.
std::string config_json(const Configuration& configuration);

// `text` in lines of at most `width` bytes, each after `indent` spaces and ended by a newline.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);

}  // namespace rookery::cli

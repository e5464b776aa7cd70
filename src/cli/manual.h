// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rookery::cli {

// rookery(1), in man(7)'s language, from the help of the commands and the table of settings.
std::string manual_page(const std::string& version);

}  // namespace rookery::cli

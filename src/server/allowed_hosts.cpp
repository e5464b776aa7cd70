// SPDX-License-Identifier: Apache-2.0
#include "server/allowed_hosts.h"

#include <algorithm>
#include <cctype>
#include <sstream>

namespace rookery::server {

AllowedHosts::AllowedHosts(const util::Settings& settings) {
  std::istringstream list(settings.allowed_hosts);
  for (std::string name; std::getline(list, name, ',');) {
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    if (!name.empty()) names_.insert(name);
  }
  const std::string& listen = settings.listen_host;
  const bool loopback = listen == "localhost" || listen.starts_with("127.") || listen == "::1" || listen == "[::1]";
  any_ = !loopback && names_.empty();
  names_.insert({"localhost", "127.0.0.1", "[::1]"});
  if (loopback) names_.insert(listen);
}

bool AllowedHosts::contains(std::string_view host) const { return any_ || host.empty() || names_.contains(host); }

bool AllowedHosts::is_own(std::string_view host) const {
  // No top-level domain is a number, and a name has no brackets.
  const bool address = !host.empty() && (host.front() == '[' || host.find_first_not_of("0123456789.") == std::string_view::npos);
  return names_.contains(host) || (any_ && address);
}

}  // namespace rookery::server

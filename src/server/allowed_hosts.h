// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "util/settings.h"

namespace rookery::server {

// Which names a request may call this server by. A web page on another site can point a name of its own at 127.0.0.1
// (DNS rebinding); a server that listens on loopback only therefore answers to loopback's names alone, one
// that listens elsewhere to any name unless the operator lists them (SANDBOX_ALLOWED_HOSTS).
class AllowedHosts {
 public:
  explicit AllowedHosts(const util::Settings& settings);
  // `host`: lower case, without port; "" in HTTP/1.0.
  [[nodiscard]] bool contains(std::string_view host) const;
  // A listed name, one of loopback's, or an address: no stranger's name server decides that it leads here.
  [[nodiscard]] bool is_own(std::string_view host) const;

 private:
  bool any_ = false;
  std::set<std::string, std::less<>> names_;
};

}  // namespace rookery::server

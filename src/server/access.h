// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <thread>

#include "server/access_tokens.h"
#include "server/http/http_server.h"
#include "sys/unique_fd.h"
#include "util/settings.h"

namespace rookery::server {

// Who may ask: the bearer token of a request, and the tenant that it is for. Thread-safe.
class Access {
 public:
  // `supervisor`: the channel of wire/supervisor_messages.h, before anything was read from it; the token that it tells
  // goes into `settings`. Throws std::runtime_error when tokens are wanted and none came: the server must not
  // start then.
  Access(util::Settings& settings, sys::UniqueFd supervisor);
  ~Access();
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  // /health and /ready are for everyone; all else needs a valid token, where there are tokens, and a tenant, where that is wanted.
  // A browser may bring the token of a page as the password of Basic authentication: it sends that again by itself, also with
  // requests that pages of others make, so it counts for nothing that changes or tells anything to a script. `route`: null for none.
  [[nodiscard]] http::Decision authorize(const http::RequestHead& head, const http::RouteMatch* route) const;
  // The tenant of an authorized request; empty without SANDBOX_REQUIRE_TENANT.
  [[nodiscard]] std::string_view tenant(const http::RequestHead& head) const;
  // Tells the supervisor that requests are served.
  void tell_ready() const;

 private:
  void follow();
  [[nodiscard]] std::shared_ptr<const AccessTokens> tokens() const;

  const util::Settings& settings_;
  sys::UniqueFd supervisor_;
  mutable std::mutex mutex_;
  std::shared_ptr<const AccessTokens> tokens_;  // null: without authentication
  std::thread follower_;
};

}  // namespace rookery::server

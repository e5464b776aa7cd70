// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include "server/handlers.h"
#include "server/status_page.h"
#include "util/embedded.h"
#include "util/findings.h"

namespace rookery::server {

namespace {

constexpr std::size_t kMostSessionsShown = 100;

// The status page has no script at all.
constexpr const char* kStatusPolicy = "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

// Nothing but what this server itself hands out; no plug-in, no frame around it, no form that leaves the page. What a
// session's code wrote cannot pass for a script of the page: downloads have no type that is one, and are not sniffed.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'";

void send(http::Response& response, std::string_view body, const char* content_type, const char* policy) {
  response.content_type = content_type;
  response.body = body;
  response.fields = {{"Content-Security-Policy", policy},
                     {"Cross-Origin-Resource-Policy", "same-origin"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", "no-cache"}};
}

void send_file(http::Response& response, std::string_view name, const char* content_type) {
  send(response, util::embedded_file(name), content_type, kPagePolicy);
}

// `rest`: from behind what all pages begin with.
void send_page(http::Response& response, std::string_view rest, const char* policy) {
  send(response, std::string(util::embedded_file("pages/head.html")).append(rest), "text/html; charset=utf-8", policy);
}

}  // namespace

void Handlers::status(const http::Request& request, http::Response& response) const {
  Status shown;
  shown.sessions = sessions_.count();
  shown.max_sessions = settings_.max_sessions;
  shown.jails = monitor_.warden_statistics();
  for (std::size_t i = 0; i < metrics_.limit_hits.size(); ++i) shown.limits.emplace_back(metrics_.limit_hits.label(i), metrics_.limit_hits.value(i));
  const auto listed = sessions_.list(0, kMostSessionsShown, access_.tenant(request.head));
  for (const auto& session : listed.sessions) shown.first_sessions.push_back(session->status(settings_));
  if (const char* findings = std::getenv(util::kFindingsVariable)) shown.findings = findings;
  send_page(response, status_page(shown), kStatusPolicy);
}

void Handlers::page(http::Route route, http::Response& response) {
  switch (route) {
    case http::Route::kDocsPage: return send_page(response, util::embedded_file("pages/docs.html"), kPagePolicy);
    case http::Route::kDocsScript: return send_file(response, "pages/docs.js", "text/javascript; charset=utf-8");
    default: return send_file(response, "pages/style.css", "text/css; charset=utf-8");
  }
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/handlers.h"
#include "util/embedded.h"

namespace rookery::server {

namespace {

// Nothing but what this server itself hands out; no plug-in, no frame around it, no form that leaves the page. What a
// session's code wrote cannot pass for a script of the page: downloads have no type that is one, and are not sniffed.
constexpr const char* kPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'; require-trusted-types-for 'script'";

void send_file(http::Response& response, std::string_view name, const char* content_type) {
  response.content_type = content_type;
  response.body = util::embedded_file(name);
  response.fields = {{"Content-Security-Policy", kPagePolicy},
                     {"Cross-Origin-Resource-Policy", "same-origin"},
                     {"Referrer-Policy", "no-referrer"},
                     {"Cache-Control", "no-cache"}};
}

}  // namespace

void Handlers::page(http::Route route, http::Response& response) {
  switch (route) {
    case http::Route::kDocsPage: return send_file(response, "pages/docs.html", "text/html; charset=utf-8");
    case http::Route::kDocsScript: return send_file(response, "pages/docs.js", "text/javascript; charset=utf-8");
    default: return send_file(response, "pages/style.css", "text/css; charset=utf-8");
  }
}

}  // namespace rookery::server

// SPDX-License-Identifier: Apache-2.0
#include "server/http/policy.h"

#include <string>

#include "server/http/syntax.h"

namespace rookery::server::http {

namespace {

bool is_json(std::string_view content_type) {
  return equals_ignoring_case(trim(content_type.substr(0, content_type.find(';'))), "application/json");
}

// Whether a page with this origin came from the server that the request names.
bool is_own_origin(std::string_view origin, const RequestHead& head) {
  const std::string authority = head.host + (head.port ? ":" + std::to_string(*head.port) : "");
  return equals_ignoring_case(origin, "http://" + authority) || equals_ignoring_case(origin, "https://" + authority);
}

// The page of another site may send requests from the user's browser; it cannot leave these fields out. Neither can it
// leave out Host, but it can have its own name lead here: so the server's own pages may send requests only under a name
// that no stranger can have given it. The reason of the refusal, or "".
std::string_view page_refusal(const RequestHead& head, const Hooks& hooks) {
  const bool own = head.origin && is_own_origin(*head.origin, head);
  if (equals_ignoring_case(head.sec_fetch_site, "cross-site") || (head.origin && !own)) return "Requests from web pages are not served";
  if (own && !(hooks.host_is_own && hooks.host_is_own(head.host))) {
    return "Requests from this server's pages are not served under this name: list it in SANDBOX_ALLOWED_HOSTS";
  }
  return "";
}

HttpError not_json() {
  return HttpError(422,
                   R"({"detail":[{"loc":["body"],"msg":"Content-Type must be application/json",)"
                   R"("type":"content_type"}]})");
}

// A field for each challenge: not every browser reads two in one.
HttpError unauthorized(const Decision& decision) {
  Fields challenges;
  if (decision.offers_basic) challenges.emplace_back("WWW-Authenticate", "Basic realm=\"rookery\"");
  challenges.emplace_back("WWW-Authenticate", "Bearer");
  return HttpError::with_detail(401, decision.detail, std::move(challenges));
}

}  // namespace

std::uint64_t body_limit(Route route, const Limits& limits) noexcept {
  switch (body_kind(route)) {
    case BodyKind::kJson: return limits.max_json_body;
    case BodyKind::kMultipart: return limits.max_upload_body;
    case BodyKind::kNone: break;
  }
  return limits.max_drain;
}

// The order is the point: a stranger learns nothing about routes, and nobody's body is looked at before
// its sender may ask at all.
std::variant<RouteMatch, HttpError> admit(const RequestHead& head, const Hooks& hooks, const Limits& limits) {
  if (const std::string_view reason = page_refusal(head, hooks); !reason.empty()) return HttpError::with_detail(403, reason);
  if (hooks.host_allowed && !hooks.host_allowed(head.host)) return HttpError::with_detail(421, "Unknown Host");
  std::variant<RouteMatch, RouteError> match = match_route(head);
  if (hooks.authorize) {
    const Decision decision = hooks.authorize(head, std::get_if<RouteMatch>(&match));
    if (!decision.allowed) return unauthorized(decision);
  }
  if (RouteError* error = std::get_if<RouteError>(&match)) {
    if (error->status == 404) return HttpError::with_detail(404, "Not Found");
    return HttpError::with_detail(405, "Method Not Allowed", {{"Allow", std::move(error->allow)}});
  }
  RouteMatch& route = std::get<RouteMatch>(match);
  const BodyKind kind = body_kind(route.route);
  if (kind == BodyKind::kJson && head.has_body() && !is_json(head.content_type)) return not_json();
  if (kind != BodyKind::kNone && head.content_length.value_or(0) > body_limit(route.route, limits)) {
    return HttpError::with_detail(413, "request body too large");
  }
  return std::move(route);
}

}  // namespace rookery::server::http

// SPDX-License-Identifier: Apache-2.0
#include "server/http/route.h"

#include <algorithm>
#include <array>
#include <optional>

#include "server/http/syntax.h"

namespace rookery::server::http {

namespace {

constexpr std::size_t kMaxSessionId = 64;

struct Row {
  Route route;
  Method method;
  // "*" stands for a session id; "" ends the path.
  std::array<std::string_view, 4> path;
  BodyKind body;
  std::string_view name;
};

constexpr Row kTable[] = {
    {Route::kHealth, Method::kGet, {"health"}, BodyKind::kNone, "health"},
    {Route::kReady, Method::kGet, {"ready"}, BodyKind::kNone, "ready"},
    {Route::kDrain, Method::kPost, {"admin", "drain"}, BodyKind::kJson, "drain"},
    {Route::kExec, Method::kPost, {"sessions", "*", "exec"}, BodyKind::kJson, "exec"},
    {Route::kCreateSession, Method::kPost, {"sessions"}, BodyKind::kJson, "create_session"},
    {Route::kGetSession, Method::kGet, {"sessions", "*"}, BodyKind::kNone, "get_session"},
    {Route::kDeleteSession, Method::kDelete, {"sessions", "*"}, BodyKind::kNone, "delete_session"},
    {Route::kPutFile, Method::kPost, {"sessions", "*", "files"}, BodyKind::kMultipart, "put_file"},
    {Route::kGetFile, Method::kGet, {"sessions", "*", "files"}, BodyKind::kNone, "get_file"},
    {Route::kListFiles, Method::kGet, {"sessions", "*", "files", "list"}, BodyKind::kNone, "list_files"},
    {Route::kOpenApi, Method::kGet, {"openapi.json"}, BodyKind::kNone, "openapi"},
    {Route::kStatusPage, Method::kGet, {}, BodyKind::kNone, "status_page"},
    {Route::kDocsPage, Method::kGet, {"docs"}, BodyKind::kNone, "docs_page"},
    {Route::kDocsScript, Method::kGet, {"pages", "docs.js"}, BodyKind::kNone, "docs_script"},
    {Route::kPageStyle, Method::kGet, {"pages", "style.css"}, BodyKind::kNone, "page_style"},
    {Route::kMetrics, Method::kGet, {"metrics"}, BodyKind::kNone, "metrics"},
    {Route::kListSessions, Method::kGet, {"sessions"}, BodyKind::kNone, "list_sessions"},
};
static_assert(std::size(kTable) == kRouteCount);

const Row& row(Route route) noexcept {
  return *std::find_if(std::begin(kTable), std::end(kTable), [&](const Row& r) { return r.route == route; });
}

bool is_session_id(const std::string& text) {
  return !text.empty() && text.size() <= kMaxSessionId && std::none_of(text.begin(), text.end(), is_control);
}

bool matches(const Row& row, const std::vector<std::string>& segments) {
  const auto end = std::find(row.path.begin(), row.path.end(), "");
  const std::size_t depth = segments.size() == 1 && segments.front().empty() ? 0 : segments.size();  // "/" is {""}
  if (static_cast<std::size_t>(end - row.path.begin()) != depth) return false;
  for (std::size_t i = 0; i < depth; ++i) {
    if (row.path[i] == "*" ? !is_session_id(segments[i]) : row.path[i] != segments[i]) return false;
  }
  return true;
}

}  // namespace

std::string_view name(Route route) noexcept { return row(route).name; }
std::string path_template(Route route) {
  std::string path;
  for (const std::string_view part : row(route).path) {
    if (!part.empty()) path.append("/").append(part == "*" ? "{session_id}" : part);
  }
  return path.empty() ? "/" : path;
}
BodyKind body_kind(Route route) noexcept { return row(route).body; }
bool is_page(Route route) noexcept {
  return route == Route::kStatusPage || route == Route::kDocsPage || route == Route::kDocsScript || route == Route::kPageStyle;
}
bool is_cheap(Route route) noexcept {
  return route == Route::kHealth || route == Route::kReady || route == Route::kDrain || route == Route::kDeleteSession;
}

std::variant<RouteMatch, RouteError> match_route(const RequestHead& head) {
  const Method method = head.method == Method::kHead ? Method::kGet : head.method;
  std::string allow;
  for (const Row& row : kTable) {
    if (!matches(row, head.segments)) continue;
    if (row.method == method) {
      RouteMatch match{row.route, {}};
      if (row.path[1] == "*") match.session_id = head.segments[1];
      return match;
    }
    if (!allow.empty()) allow += ", ";
    allow += name(row.method);
    if (row.method == Method::kGet) allow += ", HEAD";
  }
  if (allow.empty()) return RouteError{404, {}};
  return RouteError{405, std::move(allow)};
}

}  // namespace rookery::server::http

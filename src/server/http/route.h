// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "server/http/request_head.h"

// From {method, path segments} to one of the contract's operations: plain comparisons, no patterns.
namespace rookery::server::http {

enum class Route {
  kCreateSession,  // POST   /sessions
  kGetSession,     // GET    /sessions/{id}
  kDeleteSession,  // DELETE /sessions/{id}
  kExec,           // POST   /sessions/{id}/exec
  kPutFile,        // POST   /sessions/{id}/files
  kGetFile,        // GET    /sessions/{id}/files
  kListFiles,      // GET    /sessions/{id}/files/list
  kHealth,         // GET    /health
  kReady,          // GET    /ready
  kDrain,          // POST   /admin/drain
  kOpenApi,        // GET    /openapi.json
  kStatusPage,     // GET    /
  kDocsPage,       // GET    /docs
  kDocsScript,     // GET    /pages/docs.js
  kPageStyle,      // GET    /pages/style.css
  kMetrics,        // GET    /metrics
  kListSessions,   // GET    /sessions
};
inline constexpr std::size_t kRouteCount = static_cast<std::size_t>(Route::kListSessions) + 1;

enum class BodyKind {
  kNone,       // the route takes no body; one that is sent is read over
  kJson,       // application/json, or empty
  kMultipart,  // multipart/form-data
};

[[nodiscard]] std::string_view name(Route route) noexcept;
// "/sessions/{session_id}/exec".
[[nodiscard]] std::string path_template(Route route);
[[nodiscard]] BodyKind body_kind(Route route) noexcept;
// What a browser opens, and what it loads with that by itself.
[[nodiscard]] bool is_page(Route route) noexcept;
// Served even when every ordinary thread is busy: answered from memory, or what frees those threads.
[[nodiscard]] bool is_cheap(Route route) noexcept;

struct RouteMatch {
  Route route{};
  std::string session_id;  // "" for routes without; else 1..64 bytes without control characters
};

struct RouteError {
  int status = 404;   // 404 or 405
  std::string allow;  // for 405: the Allow field
};

// HEAD is served as GET.
[[nodiscard]] std::variant<RouteMatch, RouteError> match_route(const RequestHead& head);

}  // namespace rookery::server::http

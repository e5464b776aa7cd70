// SPDX-License-Identifier: Apache-2.0
#include "server/http/route.h"

#include <doctest/doctest.h>

#include "server/http/exchange.h"

using namespace rookery::server::http;

namespace {

RequestHead head(Method method, std::vector<std::string> segments) {
  RequestHead result;
  result.method = method;
  result.segments = std::move(segments);
  return result;
}

int status(Method method, std::vector<std::string> segments) {
  const auto match = match_route(head(method, std::move(segments)));
  const auto* error = std::get_if<RouteError>(&match);
  return error == nullptr ? 200 : error->status;
}

}  // namespace

TEST_CASE("every route is found") {
  const auto route = [](Method method, std::vector<std::string> segments) {
    return std::get<RouteMatch>(match_route(head(method, std::move(segments)))).route;
  };
  CHECK(route(Method::kPost, {"sessions"}) == Route::kCreateSession);
  CHECK(route(Method::kGet, {"sessions", "s"}) == Route::kGetSession);
  CHECK(route(Method::kHead, {"sessions", "s"}) == Route::kGetSession);
  CHECK(route(Method::kDelete, {"sessions", "s"}) == Route::kDeleteSession);
  CHECK(route(Method::kPost, {"sessions", "s", "exec"}) == Route::kExec);
  CHECK(route(Method::kPost, {"sessions", "s", "files"}) == Route::kPutFile);
  CHECK(route(Method::kGet, {"sessions", "s", "files"}) == Route::kGetFile);
  CHECK(route(Method::kGet, {"sessions", "s", "files", "list"}) == Route::kListFiles);
  CHECK(route(Method::kGet, {"health"}) == Route::kHealth);
  CHECK(route(Method::kGet, {"ready"}) == Route::kReady);
  CHECK(route(Method::kPost, {"admin", "drain"}) == Route::kDrain);
  CHECK(route(Method::kGet, {"openapi.json"}) == Route::kOpenApi);
  CHECK(route(Method::kGet, {"metrics"}) == Route::kMetrics);
  CHECK(route(Method::kGet, {"sessions"}) == Route::kListSessions);
}

TEST_CASE("unknown paths are 404, known ones with another method 405") {
  CHECK(status(Method::kGet, {""}) == 200);
  CHECK(status(Method::kPost, {""}) == 405);
  CHECK(status(Method::kGet, {"", ""}) == 404);
  CHECK(status(Method::kGet, {"health", ""}) == 404);
  CHECK(status(Method::kGet, {"", "health"}) == 404);
  CHECK(status(Method::kGet, {"Health"}) == 404);
  CHECK(status(Method::kGet, {"sessions", "s", "files", "list", "x"}) == 404);
  CHECK(status(Method::kPost, {"admin"}) == 404);
  CHECK(status(Method::kPost, {"admin", "..", "admin", "drain"}) == 404);
  CHECK(status(Method::kGet, {"admin", "drain"}) == 405);
  CHECK(status(Method::kPost, {"health"}) == 405);
  CHECK(status(Method::kOptions, {"sessions"}) == 405);
  CHECK(status(Method::kPut, {"sessions"}) == 405);
  CHECK(status(Method::kGet, {"sessions", "s", "exec"}) == 405);
  const auto match = match_route(head(Method::kPut, {"sessions", "s"}));
  CHECK(std::get<RouteError>(match).allow == "GET, HEAD, DELETE");
}

TEST_CASE("what cannot be a session id names no session") {
  CHECK(status(Method::kGet, {"sessions", ""}) == 404);
  CHECK(status(Method::kGet, {"sessions", "a\r\nb"}) == 404);
  CHECK(status(Method::kGet, {"sessions", std::string(65, 'a')}) == 404);
  CHECK(status(Method::kGet, {"sessions", std::string(64, 'a')}) == 200);
  CHECK(status(Method::kPost, {"sessions", "", "exec"}) == 404);
}

TEST_CASE("detail text is escaped") { CHECK(detail_json("a\"b\\\n") == R"({"detail":"a\"b\\\u000a"})"); }

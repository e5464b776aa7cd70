// SPDX-License-Identifier: Apache-2.0
// One request and its answer over loopback: framing, policy, response fields.
#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "loopback.h"

using namespace rookery::server::http;
using namespace rookery::server::http::testing;

namespace {
const std::string kHealth = "GET /health HTTP/1.1\r\nHost: a\r\n\r\n";

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

// The status line, then the fields by name (versions of cpp-httplib differ in their order), then the body.
std::string by_name(const std::string& response) {
  const std::size_t first = response.find("\r\n") + 2, end = response.find("\r\n\r\n") + 2;
  std::vector<std::string> fields;
  for (std::size_t at = first; at < end; at = response.find("\r\n", at) + 2) {
    fields.push_back(response.substr(at, response.find("\r\n", at) + 2 - at));
  }
  std::ranges::sort(fields);
  std::string text = response.substr(0, first);
  for (const std::string& field : fields) text += field;
  return text + response.substr(end);
}
}  // namespace

TEST_CASE("a response has what every response has, and nothing else") {
  TestServer server;
  Client client(server);
  const std::string response = client.exchange("GET /health HTTP/1.1\r\nHost: a\r\nX-Request-Id: r\r\n\r\n");
  CHECK(by_name(response) ==
        "HTTP/1.1 200 OK\r\nContent-Length: 15\r\nContent-Type: application/json\r\n"
        "X-Content-Type-Options: nosniff\r\nX-Request-Id: r\r\n\r\n{\"status\":\"ok\"}");
  const std::string gone = client.exchange("DELETE /sessions/s HTTP/1.1\r\nHost: a\r\nX-Request-Id: r\r\n\r\n");
  CHECK(by_name(gone) == "HTTP/1.1 204 No Content\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: r\r\n\r\n");
  client.send("HEAD /health HTTP/1.1\r\nHost: a\r\n\r\n");
  const std::string head = client.receive("\r\n\r\n");
  CHECK(has(head, "Content-Length: 15\r\n"));
  CHECK(status(client.exchange(kHealth)) == 200);
  const std::string missing = client.exchange("GET /nope HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(status(missing) == 404);
  CHECK(missing.ends_with("\r\n\r\n{\"detail\":\"Not Found\"}"));
  const std::string wrong = client.exchange("PATCH /health HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(status(wrong) == 405);
  CHECK(has(wrong, "\r\nAllow: GET, HEAD\r\n"));
  CHECK(has(wrong, "{\"detail\":\"Method Not Allowed\"}"));
  const std::string last = client.exchange("GET /health HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  CHECK(has(last, "\r\nConnection: close\r\n"));
  CHECK(client.closes());
}

TEST_CASE("a body arrives whole, by length, in chunks and byte by byte") {
  TestServer server;
  Client client(server);
  CHECK(client.exchange(exec_request("{\"a\":1}")).ends_with("\r\n\r\n{\"a\":1}"));
  const std::string chunked =
      "POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json; charset=utf-8\r\n"
      "Transfer-Encoding: chunked\r\n\r\n3;x=y\r\n{\"a\r\n4\r\n\":1}\r\n0\r\nHost: evil\r\n\r\n";
  CHECK(client.exchange(chunked + kHealth).ends_with("\r\n\r\n{\"a\":1}"));
  CHECK(status(client.response()) == 200);
  for (const char c : chunked) client.send({&c, 1});
  CHECK(client.response().ends_with("\r\n\r\n{\"a\":1}"));
  const std::string large(900'000, ' ');
  CHECK(client.exchange(exec_request(large)).ends_with(large));
  CHECK(client.exchange("POST /sessions/s/files HTTP/1.1\r\nHost: a\r\nContent-Length: 100000\r\n\r\n" +
                        std::string(100'000, 'x'))
            .ends_with("\r\n\r\n100000"));
  CHECK(client.exchange("POST /sessions/s/files HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n186a0\r\n" +
                        std::string(100'000, 'x') + "\r\n0\r\n\r\n")
            .ends_with("\r\n\r\n100000"));
  CHECK(by_name(client.exchange(exec_request("", "X-Request-Id: r\r\n"))) ==
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-Content-Type-Options: nosniff\r\nX-Request-Id: r\r\n\r\n");
}

TEST_CASE("a streamed response keeps its promise or is cut") {
  TestServer server;
  Client client(server);
  const auto get = [](std::string_view path) {
    return "GET /sessions/s/files?path=" + std::string(path) + " HTTP/1.1\r\nHost: a\r\nRange: bytes=0-0\r\n\r\n";
  };
  const std::string whole = client.exchange(get("x"));
  CHECK(status(whole) == 200);
  CHECK(whole.ends_with("\r\n\r\n" + std::string(300'000, 'x')));
  const std::string empty = client.exchange(get("empty"));
  CHECK(has(by_name(empty), "Content-Length: 0\r\nContent-Type: text/plain\r\n"));
  const std::string injected = client.exchange(get("header"));
  CHECK(status(injected) == 500);
  CHECK_FALSE(has(injected, "X-Injected"));
  const std::string cut = client.exchange(get("shrinks"));
  CHECK(status(cut) == 200);
  CHECK(cut.size() < 200'000);
  CHECK(client.closes());
}

TEST_CASE("what a handler throws becomes an answer") {
  std::string logged;
  Hooks hooks;
  hooks.log_error = [&](std::string_view text) { logged = text; };
  TestServer server({}, hooks);
  Client client(server);
  const std::string full = client.exchange("POST /sessions HTTP/1.1\r\nHost: a\r\n\r\n");
  CHECK(status(full) == 503);
  CHECK(has(full, "Retry-After: 1\r\n"));
  CHECK(full.ends_with("{\"detail\":\"full\"}"));
  const std::string fault = client.exchange(exec_request("\"throw\""));
  CHECK(status(fault) == 500);
  CHECK(fault.ends_with("{\"detail\":\"internal error\"}"));
  CHECK_FALSE(has(fault, "secret"));
  CHECK(logged == "secret");
  CHECK(status(client.exchange(kHealth)) == 200);
}

TEST_CASE("policy is decided in its order, before the body") {
  Hooks hooks;
  hooks.host_allowed = [](std::string_view host) { return host == "a"; };
  hooks.authorize = [](const RequestHead& head, const RouteMatch* route) {
    return Decision{head.authorization == "Bearer t", "who?", route != nullptr && is_page(route->route)};
  };
  TestServer server({}, hooks);
  // A body that never comes: the answer must not wait for it.
  const auto exec = [](std::string_view fields) {
    return "POST /sessions/s/exec HTTP/1.1\r\nContent-Length: 100\r\n" + std::string(fields) + "\r\n";
  };
  const auto answer = [&](std::string_view fields) { return status(ask(server, exec(fields))); };
  CHECK(answer("Host: evil\r\nOrigin: null\r\n") == 403);
  CHECK(answer("Host: a\r\nSec-Fetch-Site: cross-site\r\n") == 403);
  CHECK(answer("Host: evil\r\n") == 421);
  CHECK(answer("Host: a.\r\n") == 421);
  CHECK(answer("Host: A\r\n") == 401);
  const std::string unauthorized = ask(server, exec("Host: a\r\n"));
  CHECK(has(unauthorized, "WWW-Authenticate: Bearer\r\n"));
  CHECK_FALSE(has(unauthorized, "Basic"));
  for (const char* page : {"/", "/docs", "/pages/docs.js", "/pages/style.css"}) {
    const std::string asked = ask(server, "GET " + std::string(page) + " HTTP/1.1\r\nHost: a\r\n\r\n");
    CHECK(status(asked) == 401);
    CHECK(has(asked, "WWW-Authenticate: Basic realm=\"rookery\"\r\nWWW-Authenticate: Bearer\r\n"));
  }
  CHECK_FALSE(has(ask(server, "POST /docs HTTP/1.1\r\nHost: a\r\n\r\n"), "Basic"));
  CHECK(has(unauthorized, "Connection: close\r\n"));
  CHECK(status(ask(server, "GET /nope HTTP/1.1\r\nHost: a\r\n\r\n")) == 401);
  CHECK(status(ask(server, "GET /nope HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer t\r\n\r\n")) == 404);
  CHECK(answer("Host: a\r\nAuthorization: Bearer t\r\n") == 422);
  CHECK(answer("Host: a\r\nAuthorization: Bearer t\r\nContent-Type: text/plain\r\n") == 422);
}

TEST_CASE("pages of the server's own origin may send requests, under a name that is surely its own") {
  Hooks hooks;
  hooks.host_is_own = [](std::string_view host) { return host == "a"; };
  TestServer server({}, hooks);
  const auto answer = [&](const std::string& fields) { return status(ask(server, "GET /health HTTP/1.1\r\n" + fields + "\r\n")); };
  CHECK(answer("Host: a\r\nOrigin: http://a\r\nSec-Fetch-Site: same-origin\r\n") == 200);
  CHECK(answer("Host: a:80\r\nOrigin: https://A:80\r\n") == 200);
  for (const char* origin : {"http://b", "http://a:81", "http://a.b", "ftp://a", "a", "null", "", "http://a/", "http://a, http://a"}) {
    CHECK(answer("Host: a\r\nOrigin: " + std::string(origin) + "\r\n") == 403);
  }
  CHECK(answer("Host: a\r\nOrigin: http://a\r\nSec-Fetch-Site: cross-site\r\n") == 403);
  CHECK(answer("Host: rebound\r\nOrigin: http://rebound\r\n") == 403);
  CHECK(answer("Host: rebound\r\n") == 200);
}

TEST_CASE("a body over the limit is refused when declared and when it comes") {
  Limits limits;
  limits.max_json_body = 1000;
  limits.max_upload_body = 2000;
  TestServer server(limits);
  const std::string json = "POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  const std::string declared = ask(server, json + "Expect: 100-continue\r\nContent-Length: 10737418240\r\n\r\n");
  CHECK(status(declared) == 413);  // without a 100 first
  CHECK(has(declared, "Connection: close"));
  CHECK(status(ask(server, json + "Transfer-Encoding: chunked\r\n\r\n3e9\r\n" + std::string(1001, ' '))) == 413);
  CHECK(status(ask(server, "POST /sessions/s/files HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n7d1\r\n" +
                               std::string(2001, ' '))) == 413);
  Client client(server);
  client.send(json + "Transfer-Encoding: chunked\r\n\r\n");
  // Far more than the limit: it must be refused while it is read, and the answer must survive.
  for (int i = 0; i < 100; ++i) client.send("8000\r\n" + std::string(0x8000, ' ') + "\r\n");
  CHECK(status(client.response()) == 413);
  CHECK(client.closes());
}

TEST_CASE("a refusal survives the upload that it refuses") {
  Limits limits;
  limits.max_upload_body = 1000;
  TestServer server(limits);
  const std::string piece(1 << 20, 'x');
  for (const char* framing : {"Content-Length: 33554432\r\n", "Origin: https://evil\r\nContent-Length: 33554432\r\n"}) {
    Client client(server);
    client.send("POST /sessions/s/files HTTP/1.1\r\nHost: a\r\n" + std::string(framing) + "\r\n");
    for (int i = 0; i < 32; ++i) client.send(piece);
    const int answer = status(client.response());
    CHECK((answer == 413 || answer == 403));
    CHECK(client.closes());
  }
}

TEST_CASE("Expect: 100-continue (H28)") {
  TestServer server;
  Client client(server);
  client.send("POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
              "Expect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  CHECK(client.receive("\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n");
  CHECK(client.exchange("{}").ends_with("\r\n\r\n{}"));
  CHECK(status(client.exchange(exec_request("{}", "Expect: 100-continue\r\n"))) == 200);
  // No invitation, and no way to know whether the body comes: the connection ends.
  client.send("POST /nope HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
  const std::string refused = client.response();
  CHECK(status(refused) == 404);
  CHECK(has(refused, "Connection: close"));
  CHECK(status(ask(server, exec_request("{}", "Expect: nonsense\r\n"))) == 417);
}

TEST_CASE("wrong framing ends the connection, and nothing smuggled is answered") {
  TestServer server;
  const std::string post = "POST /sessions/s/exec HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n";
  for (const std::string& bytes : {
           post + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n5c\r\n" + kHealth,
           post + "Content-Length: 4\r\nContent-Length: 5\r\n\r\n" + kHealth,
           post + "Transfer-Encoding: chunked\r\n\r\n2\r\n{}X\r\n0\r\n\r\n" + kHealth,
           post + "Transfer-Encoding: chunked\r\n\r\nzz\r\n" + kHealth,
           std::string("GET /health HTTP/1.1\r\nHost: a\r\nX : y\r\n\r\n") + kHealth,
           std::string("GET /health HTTP/1.1\nHost: a\n\n") + kHealth,
       }) {
    CAPTURE(bytes);
    Client client(server);
    const std::string response = client.exchange(bytes);
    CHECK(status(response) == 400);
    CHECK(has(response, "Connection: close"));
    CHECK(client.closes());
  }
  // Content-Length smaller than what follows: the rest is the next request, on its own merits (H22).
  Client client(server);
  CHECK(client.exchange(post + "Content-Length: 2\r\n\r\n{}junk junk\r\n\r\n").ends_with("{}"));
  CHECK(status(client.response()) == 400);
  CHECK(client.closes());
}

TEST_CASE("a body nobody reads is read over, or ends the connection when it is long") {
  TestServer server;
  Client client(server);
  CHECK(status(client.exchange("POST /nope HTTP/1.1\r\nHost: a\r\nContent-Length: 200000\r\n\r\n" +
                               std::string(200'000, 'x'))) == 404);
  CHECK(status(client.exchange("GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nabcde")) == 200);
  CHECK(status(client.exchange("DELETE /sessions/s HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")) == 204);
  const std::string last = client.exchange("GET /health HTTP/1.1\r\nHost: a\r\nContent-Length: 300000\r\n\r\n" + std::string(300'000, 'x'));
  CHECK(status(last) == 200);
  CHECK(has(last, "Connection: close"));
  CHECK(client.closes());
}

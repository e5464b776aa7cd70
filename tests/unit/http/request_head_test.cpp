// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_head.h"

#include <doctest/doctest.h>

#include <string>

using namespace rookery::server::http;

namespace {

std::string get(std::string_view target, std::string_view fields = "Host: a\r\n") {
  return "GET " + std::string(target) + " HTTP/1.1\r\n" + std::string(fields) + "\r\n";
}

int status(std::string_view bytes) {
  const auto result = parse_request_head(bytes);
  const auto* error = std::get_if<HeadError>(&result);
  return error == nullptr ? 200 : error->status;
}

RequestHead parsed(std::string_view bytes) {
  auto result = parse_request_head(bytes);
  REQUIRE(std::holds_alternative<RequestHead>(result));
  return std::get<RequestHead>(std::move(result));
}

HeadScanner::Result scan(std::string_view bytes, HeadScanner& scanner) { return scanner.scan(bytes); }

}  // namespace

TEST_CASE("a usual request is read field by field") {
  const RequestHead head = parsed(
      "POST /sessions/s%2Fx/files?path=a%20b+c&empty= HTTP/1.1\r\nHost: LocalHost:8080\r\n"
      "Content-Type: application/json\r\nContent-Length: 12\r\nExpect: 100-Continue\r\n"
      "Authorization: Bearer t\r\ntraceparent: 00-1\r\nX-Other: \xc3\xa9\r\n\r\n");
  CHECK(head.method == Method::kPost);
  CHECK(head.segments == std::vector<std::string>{"sessions", "s/x", "files"});
  CHECK(head.query.at("path") == "a b c");
  CHECK(head.query.at("empty").empty());
  CHECK(head.host == "localhost");
  CHECK(head.port == 8080);
  CHECK(head.content_type == "application/json");
  CHECK(head.content_length == 12);
  CHECK_FALSE(head.chunked);
  CHECK(head.keep_alive);
  CHECK(head.expect_continue);
  CHECK(head.authorization == "Bearer t");
  CHECK(head.traceparent == "00-1");
  CHECK_FALSE(head.origin);
}

TEST_CASE("any other field can be asked for, if it stands once") {
  const RequestHead head = parsed(get("/", "Host: a\r\nX-Tenant-Id: blue \r\nX-Twice: 1\r\nx-twice: 2\r\n"));
  CHECK(head.field("x-tenant-id") == "blue");
  CHECK(head.field("X-Twice").empty());
  CHECK(head.field("X-None").empty());
}

TEST_CASE("the target is decoded exactly once") {
  CHECK(parsed(get("/a%252fb/%2e%2e/..")).segments == std::vector<std::string>{"a%2fb", "..", ".."});
  CHECK(parsed(get("/")).segments == std::vector<std::string>{""});
  CHECK(parsed(get("//a/")).segments == std::vector<std::string>{"", "a", ""});
  CHECK(parsed(get("/?a=%2500&&b")).query == decltype(RequestHead::query){{"a", "%00"}, {"b", ""}});
  for (const char* target : {"/%", "/%4", "/%zz", "/%00", "/a%00b", "/?a=%0", "/?a=%00", "/?%00=a", "/?a=1&a=2",
                             "/?a&%61", "/a#b", "/%u002e", "a", "ftp://a/", "http:///a", "http://a@b/", "/a\xc3\xa9"}) {
    CAPTURE(target);
    CHECK(status(get(target)) == 400);
  }
}

TEST_CASE("the absolute form must name the same host") {
  CHECK(parsed(get("http://a/x?y=1")).segments == std::vector<std::string>{"x"});
  CHECK(parsed(get("HTTP://A")).segments == std::vector<std::string>{""});
  CHECK(status(get("http://b/x")) == 400);
  CHECK(status(get("http://a:80/x")) == 400);
  CHECK(parsed("GET http://a:1/x HTTP/1.0\r\n\r\n").port == 1);
}

TEST_CASE("bad field lines (H13)") {
  for (const char* line : {"X : a", " X: a", "X\r\n : folded", "X: a\r\n folded", "X: a\r\n\tfolded", ": a", "X a", "X(: a",
                           "X: a\rb", "X: a\nb", "X: a\x7f", "X: \x01", "\xc3\xa9: a"}) {
    CAPTURE(line);
    CHECK(status(get("/", "Host: a\r\n" + std::string(line) + "\r\n")) == 400);
  }
  CHECK(status(get("/", std::string("Host: a\r\nContent-Length\0: 5\r\n", 28))) == 400);
  CHECK(status(get("/", std::string("Host: a\r\nX: a\0b\r\n", 17))) == 400);
}

TEST_CASE("exactly one valid Host (H15)") {
  for (const char* host : {"", "Host:\r\n", "Host: a\r\nHost: a\r\n", "Host: a\r\nHost: b\r\n", "Host: a@b\r\n",
                           "Host: a/b\r\n", "Host: a:99999\r\n", "Host: a:b\r\n", "Host: a:\r\n", "Host: [::1\r\n",
                           "Host: [::g]\r\n", "Host: []\r\n", "Host: a, b\r\n", "Host: a b\r\n", "Host: a%41\r\n",
                           "Host: [::1]x\r\n", "Host: a:+1\r\n"}) {
    CAPTURE(host);
    CHECK(status(get("/", host)) == 400);
  }
  CHECK(parsed(get("/", "Host: [::1]:80\r\n")).host == "[::1]");
  CHECK(parsed(get("/", "host:127.0.0.1:65535 \r\n")).port == 65535);
  CHECK(parsed("GET / HTTP/1.0\r\n\r\n").host.empty());
}

TEST_CASE("framing that two readers could see differently is refused") {
  const auto with = [](std::string_view fields) { return status(get("/", "Host: a\r\n" + std::string(fields))); };
  CHECK(with("Transfer-Encoding: chunked\r\nContent-Length: 4\r\n") == 400);
  CHECK(with("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n") == 400);
  CHECK(with("Content-Length: 4\r\nContent-Length: 4\r\n") == 400);
  CHECK(with("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n") == 400);
  for (const char* length : {"", "+4", "-4", "4, 4", "0x4", "4 4", "4a", "18446744073709551616"}) {
    CAPTURE(length);
    CHECK(with("Content-Length: " + std::string(length) + "\r\n") == 400);
  }
  CHECK(with("Transfer-Encoding: gzip\r\n") == 501);
  CHECK(with("Transfer-Encoding: xchunked\r\n") == 501);
  for (const char* coding : {"", "chunked, chunked", "gzip, chunked", "chunked;a=b", ",chunked"}) {
    CAPTURE(coding);
    CHECK(with("Transfer-Encoding: " + std::string(coding) + "\r\n") == 400);
  }
  CHECK(parsed(get("/", "Host: a\r\nTransfer-Encoding: Chunked\r\n")).chunked);
  CHECK(status("POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\nConnection: keep-alive\r\n\r\n") == 400);
  CHECK(with("Content-Encoding: gzip\r\n") == 415);
  CHECK(with("Content-Encoding: identity\r\n") == 200);
  CHECK(with("Expect: nonsense\r\n") == 417);
  CHECK(with("Authorization: a\r\nAuthorization: b\r\n") == 400);
}

TEST_CASE("methods and versions") {
  for (const char* line : {"CONNECT evil:443 HTTP/1.1", "get / HTTP/1.1", "PRI * HTTP/1.1", "OPTIONS * HTTP/1.1"}) {
    CAPTURE(line);
    CHECK(status(std::string(line) + "\r\nHost: a\r\n\r\n") == 501);
  }
  CHECK(status("GET / HTTP/2.0\r\nHost: a\r\n\r\n") == 505);
  CHECK(status("GET / HTTP/1.2\r\nHost: a\r\n\r\n") == 505);
  for (const char* line : {"GET /", "GET  / HTTP/1.1", "GET / / HTTP/1.1", "GET\t/ HTTP/1.1", " GET / HTTP/1.1", "GET / HTTP/1.1 ",
                           "GET / http/1.1", "GET / HTTP/1.10", "", "*1", "SSH-2.0-OpenSSH"}) {
    CAPTURE(line);
    CHECK(status(std::string(line) + "\r\nHost: a\r\n\r\n") == 400);
  }
}

TEST_CASE("keep-alive follows version and Connection") {
  CHECK(parsed(get("/")).keep_alive);
  CHECK_FALSE(parsed(get("/", "Host: a\r\nConnection: x, Close\r\n")).keep_alive);
  CHECK_FALSE(parsed(get("/", "Host: a\r\nConnection: keep-alive\r\nConnection: close\r\n")).keep_alive);
  CHECK_FALSE(parsed("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n").keep_alive);
}

TEST_CASE("limits of a head") {
  std::string fields = "Host: a\r\n";
  for (int i = 1; i < 100; ++i) fields += "X: a\r\n";
  CHECK(status(get("/", fields)) == 200);
  CHECK(status(get("/", fields + "X: a\r\n")) == 431);
  CHECK(status(get("/" + std::string(kMaxRequestLine, 'A'))) == 414);
  CHECK(status(get("/", "Host: a\r\nX: " + std::string(kMaxHead, 'a') + "\r\n")) == 431);
}

TEST_CASE("the scanner finds the end however the bytes are cut") {
  const std::string head = "\r\n" + get("/x");
  const std::string bytes = head + "GET / HTTP";
  for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
    HeadScanner scanner;
    const HeadScanner::Result first = scan(std::string_view(bytes).substr(0, cut), scanner);
    CHECK(first == (cut < head.size() ? HeadScanner::Result::kMore : HeadScanner::Result::kComplete));
    if (cut < head.size()) CHECK(scan(bytes, scanner) == HeadScanner::Result::kComplete);
    CHECK(scanner.length() == head.size());
    CHECK(scanner.skipped() == 2);
  }
}

TEST_CASE("the scanner refuses hopeless heads at once") {
  const auto error = [](std::string_view bytes) {
    HeadScanner scanner;
    return scan(bytes, scanner) == HeadScanner::Result::kError ? scanner.error().status : 0;
  };
  CHECK(error("GET / HTTP/1.1\n") == 400);
  CHECK(error("GET / HTTP/1.1\r\nX: a\rb") == 400);
  CHECK(error(std::string_view("\x16\x03\x01", 3)) == 400);
  CHECK(error(std::string_view("\0\0", 2)) == 400);
  CHECK(error("\r\n\r\n") == 400);
  CHECK(error("GET /" + std::string(100000, 'A')) == 414);
  std::string fields = "GET / HTTP/1.1\r\n";
  while (fields.size() <= kMaxHead) fields += "X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
  CHECK(error(fields) == 431);
}

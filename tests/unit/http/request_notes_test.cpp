// SPDX-License-Identifier: Apache-2.0
#include "server/http/request_notes.h"

#include <doctest/doctest.h>

#include "loopback.h"

using namespace rookery::server::http;
using namespace rookery::server::http::testing;

namespace {
const std::string kTrace = "4bf92f3577b34da6a3ce929d0e0e4736";
const std::string kParent = "00f067aa0ba902b7";
}  // namespace

TEST_CASE("a well-formed traceparent names its trace, parent and sampling") {
  const TraceParent taken = parse_traceparent("00-" + kTrace + "-" + kParent + "-01");
  CHECK(taken.trace_id == kTrace);
  CHECK(taken.parent_id == kParent);
  CHECK(taken.sampled);
  CHECK_FALSE(parse_traceparent("00-" + kTrace + "-" + kParent + "-02").sampled);
  CHECK(parse_traceparent("cc-" + kTrace + "-" + kParent + "-01-what the future brings").trace_id == kTrace);
}

TEST_CASE("anything else names nothing") {
  for (const std::string& field : {std::string(), std::string("00"), "00-" + kTrace + "-" + kParent + "-1", "ff-" + kTrace + "-" + kParent + "-01",
                                   "00-" + std::string(32, '0') + "-" + kParent + "-01", "00-" + kTrace + "-" + std::string(16, '0') + "-01",
                                   "00_" + kTrace + "-" + kParent + "-01", "00-" + kTrace + "-" + kParent + "-0g", "00-" + kTrace + "-" + kParent + "-01-x",
                                   "01-" + kTrace + "-" + kParent + "-01x", "0G-" + kTrace + "-" + kParent + "-01"}) {
    CHECK_MESSAGE(parse_traceparent(field).trace_id.empty(), field);
  }
}

TEST_CASE("request ids are short and harmless wherever they are printed") {
  CHECK(is_request_id("a"));
  CHECK(is_request_id("01HZ._:/@+=-z"));
  CHECK(is_request_id(std::string(128, 'x')));
  for (const std::string& text : {std::string(), std::string(129, 'x'), std::string("a b"), std::string("a\"b"), std::string("a\\b"), std::string("\xc3\xa9"),
                                  std::string("a\0b", 3), std::string("<b>"), std::string("a;b"), std::string("a,b")}) {
    CHECK_FALSE(is_request_id(text));
  }
}

TEST_CASE("every answer carries the request's id") {
  TestServer server;
  const auto id_of = [&](const std::string& request) {
    const std::string answer = ask(server, request);
    const std::size_t at = answer.find("X-Request-Id: ");
    REQUIRE(at != std::string::npos);
    REQUIRE(answer.find("X-Request-Id: ", at + 1) == std::string::npos);
    return answer.substr(at + 14, answer.find("\r\n", at) - at - 14);
  };
  CHECK(id_of("GET /health HTTP/1.1\r\nHost: a\r\nx-request-id: mine\r\n\r\n") == "mine");
  CHECK(id_of("GET /nowhere HTTP/1.1\r\nHost: a\r\nX-Request-ID: mine\r\n\r\n") == "mine");
  CHECK(id_of("GET /health HTTP/1.1\r\nHost: a\r\nX-Request-Id: a b\r\n\r\n").size() == 32);
  CHECK(id_of("GET /health HTTP/1.1\r\nHost: a\r\nX-Request-Id: a\r\nX-Request-Id: a\r\n\r\n").size() == 32);
  CHECK(id_of("GARBAGE\r\n\r\n").size() == 32);
}

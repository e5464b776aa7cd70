// SPDX-License-Identifier: Apache-2.0
#include "util/otlp_destination.h"

#include <doctest/doctest.h>

using namespace rookery::util;

TEST_CASE("an endpoint is an origin and perhaps a path") {
  const auto plain = parse_otlp_endpoint("http://localhost:4318");
  REQUIRE(plain);
  CHECK(plain->origin == "http://localhost:4318");
  CHECK(plain->path.empty());
  const auto deep = parse_otlp_endpoint("https://[::1]/otlp/a//");
  REQUIRE(deep);
  CHECK(deep->origin == "https://[::1]");
  CHECK(deep->path == "/otlp/a");
  for (const char* text : {"", "localhost:4318", "ftp://x", "http://", "http:///x", "http://x:", "http://x:0", "http://x:65536", "http://x:1a", "http://:80",
                           "http://u@x", "http://x/?q", "http://x/#f", "http://x y", "http://x\n", "HTTP://x", "http://x/\"", "http://x\\y"}) {
    CHECK_MESSAGE(!parse_otlp_endpoint(text), text);
  }
}

TEST_CASE("headers are decoded, and what would break out of a field is refused") {
  CHECK(parse_otlp_headers("").value().empty());
  CHECK(parse_otlp_headers(" , ").value().empty());
  const auto headers = parse_otlp_headers("authorization=Basic%20YTpi , x-list=a%2Cb%3D, empty=").value();
  REQUIRE(headers.size() == 3);
  CHECK(headers[0] == std::pair<std::string, std::string>("authorization", "Basic YTpi"));
  CHECK(headers[1] == std::pair<std::string, std::string>("x-list", "a,b="));
  CHECK(headers[2].second.empty());
  for (const char* text : {"name", "=value", "a b=c", "a=%", "a=%4", "a=%zz", "a=%0d%0aX: y", "a%0a=b", "a:b=c", "\xc3\xa9=c", "a=\x7f"}) {
    CHECK_MESSAGE(!parse_otlp_headers(text), text);
  }
}

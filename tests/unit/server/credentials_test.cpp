// SPDX-License-Identifier: Apache-2.0
#include "server/credentials.h"

#include <doctest/doctest.h>

using rookery::server::basic_password;
using rookery::server::bearer_token;

TEST_CASE("a bearer token is what stands behind the scheme and a space") {
  CHECK(bearer_token("Bearer t") == "t");
  CHECK(bearer_token("bEARER   a b ") == "a b");
  for (const char* other : {"", "t", "Bearer", "Bearer ", "Bearert", "Basic t", " Bearer t"}) {
    CAPTURE(other);
    CHECK(bearer_token(other).empty());
  }
}

// Examples of RFC 7617 2 and RFC 4648 10.
TEST_CASE("a basic password is what stands behind the first colon, whatever the name") {
  CHECK(basic_password("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==") == "open sesame");
  CHECK(basic_password("bASIC  dGVzdDoxMjPCow== ") == "123\xc2\xa3");
  CHECK(basic_password("Basic OnQ=") == "t");
  CHECK(basic_password("Basic OmE6Yg==") == "a:b");
  CHECK(basic_password("Basic Og==") == "");
  CHECK(basic_password("Basic Ojp+Pz4/") == ":~?>?");
}

TEST_CASE("what is no pair in base64 is no basic password") {
  for (const char* other : {"", "OnQ=", "Basic", "Basic ", "BasicOnQ=", "Bearer OnQ=", "Basic OnQ", "Basic OnQ==", "Basic =", "Basic ====", "Basic On=Q",
                            "Basic O n Q =", "Basic OnQ=OnQ=", "Basic On-_", "Basic On\xc3\xa9", "Basic Zm9v"}) {
    CAPTURE(other);
    CHECK_FALSE(basic_password(other));
  }
}

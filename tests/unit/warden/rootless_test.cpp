// SPDX-License-Identifier: Apache-2.0
#include "warden/rootless.h"

#include <doctest/doctest.h>

using rookery::warden::subordinate_ids;

TEST_CASE("the largest range of a user is taken, by name or by number") {
  const auto ids = subordinate_ids("other:1:99999999\nme:100000:65536\n1000:300000:70000\nme:500000:10\n", "me", 1000);
  REQUIRE(ids);
  CHECK(ids->first == 300000);
  CHECK(ids->count == 70000);
}

TEST_CASE("who is not named has none") {
  CHECK_FALSE(subordinate_ids("", "me", 1000));
  CHECK_FALSE(subordinate_ids("me2:100000:65536\n10001:100000:65536\n", "me", 1000));
}

TEST_CASE("lines that are none are passed over") {
  CHECK_FALSE(subordinate_ids("me\nme:\nme:1\nme:x:5\nme:5:x\nme:-1:5\nme:1:99999999999999999999999\n# me:1:2\n", "me", 1000));
  const auto ids = subordinate_ids("me:broken:1\nme:200000:65536", "me", 1000);
  REQUIRE(ids);
  CHECK(ids->first == 200000);
}

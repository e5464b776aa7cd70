// SPDX-License-Identifier: Apache-2.0
#include "server/files/client_path.h"

#include <doctest/doctest.h>

#include <cerrno>

#include "workspace.h"

using namespace rookery::server;
using rookery::test::status_of;
using namespace std::string_literals;

namespace {

std::string relative(std::string_view path) {
  const auto parsed = parse_client_path(path);
  return parsed.index() == 0 ? std::get<0>(parsed).relative : "refused: " + std::get<1>(parsed).detail;
}

bool directory(std::string_view path) { return std::get<0>(parse_client_path(path)).directory; }

}  // namespace

TEST_CASE("relative and /workspace paths name the same place") {
  for (const std::string path : {"a/b.txt", "./a/b.txt", "a//b.txt", "a/./b.txt", "/workspace/a/b.txt", "//workspace//a/b.txt", "/workspace/./a/b.txt"}) {
    CHECK(relative(path) == "a/b.txt");
    CHECK_FALSE(directory(path));
  }
  for (const std::string path : {".", "./", "././", "/workspace", "/workspace/", "///workspace///"}) {
    CHECK(relative(path) == ".");
    CHECK(directory(path));
  }
}

TEST_CASE("a path that can only be a directory is known as one") {
  for (const std::string path : {"a/", "a/.", "a/..", "..", "a//", "/workspace/a/"}) CHECK(directory(path));
  for (const std::string path : {"a", "a/...", "...", "a/..b", "workspace"}) CHECK_FALSE(directory(path));
}

TEST_CASE("nothing in a path is decoded or special") {
  for (const std::string path : {"%2e%2e%2fetc", "..%2f", "~root", "a;b", "$(id)", "--help", "file:", "\\..\\x", " ", "a ", "\xff\xfe", "%00"}) {
    CHECK(relative(path) == path);
  }
}

TEST_CASE("empty, NUL and overlong paths are malformed") {
  CHECK(status_of(parse_client_path("")) == 400);
  CHECK(status_of(parse_client_path("a\0b"s)) == 400);
  CHECK(status_of(parse_client_path(std::string(4097, 'a'))) == 400);
  CHECK(status_of(parse_client_path(std::string(256, 'a'))) == 400);
  CHECK(status_of(parse_client_path(std::string(255, 'a'))) == 0);
  std::string deep;
  while (deep.size() < 4094) deep += "x/";
  CHECK(status_of(parse_client_path(deep)) == 0);
  CHECK(status_of(parse_client_path("/workspace/" + deep)) == 400);
}

TEST_CASE("other absolute paths are outside") {
  for (const std::string path : {"/", "//", "/etc/passwd", "//etc/passwd", "/WORKSPACE/x", "/workspace2", "/workspace;/../etc", "/./workspace/x",
                           "/proc/self/root/etc/passwd", "/workspace\\x"}) {
    CHECK(status_of(parse_client_path(path)) == 403);
  }
}

TEST_CASE("what leaves by its text is an escape even where nothing exists") {
  for (const std::string path : {"..", "../x", "a/../../b", "/workspace/../etc/passwd", "a/b/../../../x"}) {
    const auto parsed = std::get<0>(parse_client_path(path));
    CHECK(parsed.leaves_as_text);
    CHECK(path_error(ENOENT, parsed, path).status == 403);
  }
  const auto inside = std::get<0>(parse_client_path("a/../b"));
  CHECK_FALSE(inside.leaves_as_text);
  CHECK(path_error(ENOENT, inside, "a/../b").status == 404);
}

// SPDX-License-Identifier: Apache-2.0
#include "sys/beneath.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <thread>

#include "workspace.h"

using namespace rookery::sys;
using rookery::test::Workspace;
using Names = std::vector<std::string>;

namespace {

Owner self() { return {::geteuid(), ::getegid()}; }

}  // namespace

TEST_CASE("a path is opened beneath its root only") {
  const Workspace workspace;
  workspace.write("d/x", "x");
  workspace.link("x", "d/inside");
  workspace.link("../../outside", "d/away");
  CHECK(open_beneath(workspace.fd(), "d/inside", O_RDONLY));
  CHECK_FALSE(open_beneath(workspace.fd(), "d/away", O_RDONLY));
  CHECK(errno == EXDEV);
  CHECK_FALSE(open_beneath(workspace.fd(), "../outside", O_RDONLY));
  CHECK(errno == EXDEV);
  CHECK_FALSE(open_beneath(workspace.fd(), "/etc/passwd", O_RDONLY));
  CHECK(errno == EXDEV);
  CHECK_FALSE(open_beneath_no_links(workspace.fd(), "d/inside", O_RDONLY));
  CHECK(errno == ELOOP);
}

TEST_CASE("directories are made with all their parents, or not at all") {
  const Workspace workspace;
  workspace.write("have/file", "");
  workspace.link("have", "ln");
  auto made = make_directories(workspace.fd(), "ln/a/b", self());
  CHECK(made.directory);
  CHECK(made.names == Names{"a", "b"});
  CHECK(workspace.all() == Names{"have", "have/a", "have/a/b", "have/file", "ln"});
  remove_directories(made);
  CHECK(workspace.all() == Names{"have", "have/file", "ln"});

  CHECK(make_directories(workspace.fd(), ".", self()).directory);
  CHECK_FALSE(make_directories(workspace.fd(), "have/file/x", self()).directory);
  CHECK(errno == ENOTDIR);
  CHECK_FALSE(make_directories(workspace.fd(), "new/../x", self()).directory);
  CHECK(errno == ENOENT);
  CHECK_FALSE(make_directories(workspace.fd(), "../x", self()).directory);
  CHECK(errno == EXDEV);
  CHECK_FALSE(make_directories(workspace.fd(), "a/" + std::string(300, 'n'), self()).directory);
  CHECK(errno == ENAMETOOLONG);
  CHECK(workspace.all() == Names{"have", "have/file", "ln"});
}

TEST_CASE("a directory that flips into a link never leads out") {
  const Workspace workspace;
  std::filesystem::create_directory(workspace.path("d"));
  workspace.write("d/outside", "inside");
  workspace.link("..", "e");
  std::atomic<bool> stop = false;
  std::thread flipper([&] {
    while (!stop) ::renameat2(workspace.fd(), "d", workspace.fd(), "e", RENAME_EXCHANGE);
  });
  int opened = 0;
  for (int i = 0; i < 2000; ++i) {
    const UniqueFd file = open_beneath(workspace.fd(), "d/outside", O_RDONLY);
    if (!file) continue;
    ++opened;
    char content[16]{};
    const ssize_t size = ::read(file.get(), content, sizeof(content));
    CHECK(std::string(content, size > 0 ? static_cast<std::size_t>(size) : 0) == "inside");
  }
  stop = true;
  flipper.join();
  CHECK(opened > 0);
}

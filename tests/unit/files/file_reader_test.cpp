// SPDX-License-Identifier: Apache-2.0
#include "server/files/file_reader.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "workspace.h"

using namespace rookery::server;
using rookery::test::status_of;
using rookery::test::Workspace;

namespace {

int read_status(const Workspace& workspace, std::string_view path) { return status_of(open_for_read(workspace.fd(), path)); }

std::vector<std::string> listed(const Workspace& workspace, std::string_view path) {
  std::vector<std::string> names;
  const auto result = list_files(workspace.fd(), path);
  REQUIRE(result.index() == 0);
  for (const auto& file : std::get<0>(result).files) names.push_back(file.path);
  return names;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a regular file is opened with its size and type") {
  const Workspace workspace;
  workspace.write("d/in.csv", "a,b\n");
  for (const std::string path : {"d/in.csv", "/workspace/d/in.csv", "./d//in.csv", "d/../d/in.csv"}) {
    const auto result = open_for_read(workspace.fd(), path);
    REQUIRE(result.index() == 0);
    const auto& file = std::get<0>(result);
    CHECK(file.size == 4);
    CHECK(file.name == "in.csv");
    CHECK(file.media_type == "text/csv");
    CHECK(file.modified_at > 1.7e9);
    char content[8]{};
    CHECK(::read(file.fd.get(), content, sizeof(content)) == 4);
    CHECK((::fcntl(file.fd.get(), F_GETFD) & FD_CLOEXEC) != 0);
  }
}

TEST_CASE("only regular files are opened, and nothing blocks") {
  const Workspace workspace;
  workspace.write("d/file", "x");
  workspace.fifo("fifo");
  workspace.socket("sock");
  CHECK(read_status(workspace, "d") == 400);
  CHECK(read_status(workspace, ".") == 400);
  CHECK(read_status(workspace, "./") == 400);
  CHECK(read_status(workspace, "fifo") == 409);
  CHECK(read_status(workspace, "sock") == 409);
  CHECK(read_status(workspace, "missing") == 404);
  CHECK(read_status(workspace, "d/file/x") == 404);
  CHECK(read_status(workspace, "d/file/") == 404);
  CHECK(read_status(workspace, "d/file/.") == 404);
}

TEST_CASE("a file under a lease is refused at once") {
  const Workspace workspace;
  workspace.write("leased", "x");
  ::signal(SIGIO, SIG_IGN);
  const rookery::sys::UniqueFd holder(::open(workspace.path("leased").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::fcntl(holder.get(), F_SETLEASE, F_WRLCK) == 0);
  CHECK(read_status(workspace, "leased") == 409);
}

TEST_CASE("no spelling and no symlink leads out") {
  const Workspace workspace;
  workspace.write("d/in.txt", "inside");
  workspace.link(workspace.outside().string(), "absolute");
  workspace.link("../outside", "relative");
  workspace.link("/", "root");
  workspace.link("..", "up");
  workspace.link(".", "self");
  workspace.link("/proc/self/fd/0", "magic");
  workspace.link("d", "ok");
  workspace.link("loop", "loop");
  workspace.link("nothing", "dangling");
  for (const std::string path : {"../outside", "/workspace/../outside", "d/../../outside", "nothing/../../outside", "absolute", "relative", "root/etc/passwd",
                           "up/outside", "self/self/relative", "magic", "/etc/passwd", "..", "/proc/self/cwd/..", "loop"}) {
    CAPTURE(path);
    CHECK(read_status(workspace, path) == 403);
  }
  CHECK(read_status(workspace, "dangling") == 404);
  CHECK(read_status(workspace, "ok/in.txt") == 0);
  CHECK(read_status(workspace, "self/self/d/in.txt") == 0);
  CHECK(read_status(workspace, "%2e%2e/outside") == 404);
}

TEST_CASE("a file over the cap is refused, also when it is only apparently large") {
  const Workspace workspace;
  workspace.write("sparse", "");
  std::filesystem::resize_file(workspace.path("sparse"), kMaxDownloadBytes + 1);
  CHECK(read_status(workspace, "sparse") == 413);
  std::filesystem::resize_file(workspace.path("sparse"), kMaxDownloadBytes);
  CHECK(read_status(workspace, "sparse") == 0);
}

TEST_CASE("a listing holds the regular files of one directory, sorted by bytes") {
  const Workspace workspace;
  for (const auto* name : {"b.txt", "B.txt", "a.png", ".hidden", "d/inner", "d/e/deeper", "\xC3\xA9", "\xFF"}) workspace.write(name, "123");
  workspace.fifo("fifo");
  workspace.socket("sock");
  workspace.link("b.txt", "link");
  workspace.link("d", "dirlink");
  workspace.link(workspace.outside().string(), "away");
  workspace.link("nothing", "dangling");
  CHECK(listed(workspace, ".") == Names{".hidden", "B.txt", "a.png", "b.txt", "link", "\xC3\xA9", "\xFF"});
  CHECK(listed(workspace, "/workspace") == listed(workspace, "."));
  CHECK(listed(workspace, "d") == Names{"d/inner"});
  CHECK(listed(workspace, "d/") == Names{"d/inner"});
  CHECK(listed(workspace, "dirlink") == Names{"dirlink/inner"});
  CHECK(listed(workspace, "d/inner") == Names{"d/inner"});
  CHECK(listed(workspace, "fifo").empty());

  const auto all = std::get<0>(list_files(workspace.fd(), "."));
  CHECK(all.files[2].mime_type == "image/png");
  CHECK(all.files[2].size_bytes == 3);
  CHECK_FALSE(all.truncated);
  CHECK(status_of(list_files(workspace.fd(), "missing")) == 404);
  CHECK(status_of(list_files(workspace.fd(), "b.txt/")) == 404);
  CHECK(status_of(list_files(workspace.fd(), "..")) == 403);
  CHECK(status_of(list_files(workspace.fd(), "--help")) == 404);
}

TEST_CASE("a listing is cut at its bound, and keeps the first names") {
  const Workspace workspace;
  for (int i = 0; i < 50; ++i) workspace.write("f" + std::to_string(100 + i), "");
  const auto listing = std::get<0>(list_files(workspace.fd(), ".", 10));
  CHECK(listing.truncated);
  REQUIRE(listing.files.size() == 10);
  CHECK(listing.files.front().path == "f100");
  CHECK(listing.files.back().path == "f109");
  CHECK_FALSE(std::get<0>(list_files(workspace.fd(), ".", 50)).truncated);
}

// SPDX-License-Identifier: Apache-2.0
#include "server/files/workspace_snapshot.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include "server/files/upload_file.h"
#include "workspace.h"

using namespace rookery::server;
using rookery::test::Workspace;
using Names = std::vector<std::string>;

namespace {

Names produced(WorkspaceSnapshot& snapshot, const Workspace& workspace) {
  Names names;
  const auto result = snapshot.update(workspace.fd());
  for (const auto& file : result.files) {
    CHECK(file.file_id == file.filename);
    names.push_back(file.filename);
  }
  CHECK(result.total >= names.size());
  return names;
}

std::int64_t clock_now() {
  timespec now{};
  REQUIRE(::clock_gettime(CLOCK_REALTIME, &now) == 0);
  return now.tv_sec * 1'000'000'000 + now.tv_nsec;
}

}  // namespace

TEST_CASE("each call's new and changed files are reported once") {
  const Workspace workspace;
  WorkspaceSnapshot snapshot;
  CHECK(produced(snapshot, workspace).empty());
  workspace.write("report.txt", "v1");
  workspace.write("out/deep/p l\u00f6t.png", "PNG");
  CHECK(produced(snapshot, workspace) == Names{"out/deep/p l\u00f6t.png", "report.txt"});
  CHECK(produced(snapshot, workspace).empty());
  workspace.write("report.txt", "v2, longer");
  CHECK(produced(snapshot, workspace) == Names{"report.txt"});
  workspace.write("copy.txt", "v2");
  workspace.write("out/deep/new.txt", "");
  CHECK(produced(snapshot, workspace) == Names{"copy.txt", "out/deep/new.txt"});
}

TEST_CASE("a rewrite that leaves no trace in the file's times is seen") {
  const Workspace workspace;
  WorkspaceSnapshot snapshot;
  int rounds = 0;
  for (int i = 0; i < 1000 && rounds < 20; ++i) {
    // As within one tick of a kernel without fine file times: same inode, size and time.
    const std::int64_t tick = clock_now() + 5'000'000;
    const timespec time{tick / 1'000'000'000, tick % 1'000'000'000};
    const timespec times[] = {time, time};
    workspace.write("same", "v1");
    REQUIRE(::utimensat(workspace.fd(), "same", times, 0) == 0);
    CHECK(produced(snapshot, workspace) == Names{"same"});
    CHECK(produced(snapshot, workspace).empty());
    if (clock_now() >= tick) continue;  // too slow: that tick is over
    workspace.write("same", "v2");
    REQUIRE(::utimensat(workspace.fd(), "same", times, 0) == 0);
    CHECK(produced(snapshot, workspace) == Names{"same"});
    ++rounds;
  }
  CHECK(rounds > 0);
}

TEST_CASE("hidden files, caches, links and special files are not products") {
  const Workspace workspace;
  for (const auto* name : {".hidden", ".cache/x", "__pycache__/m.pyc", "m.pyc", "d/.git/config"}) workspace.write(name, "x");
  workspace.link("/etc/passwd", "link");
  workspace.fifo("fifo");
  workspace.socket("sock");
  WorkspaceSnapshot snapshot;
  CHECK(produced(snapshot, workspace).empty());
}

TEST_CASE("what the server wrote itself is not reported, what the session makes of it is") {
  const Workspace workspace;
  WorkspaceSnapshot snapshot;
  const auto upload = [&](std::string_view content) {
    auto begun = UploadFile::begin(workspace.fd(), "in.csv");
    REQUIRE(begun.index() == 0);
    CHECK_FALSE(std::get<0>(begun).write(content));
    CHECK(std::get<0>(begun).commit(snapshot.recorder()).index() == 0);
  };
  upload("a,b\n");
  CHECK(produced(snapshot, workspace).empty());
  upload("c,d\n");
  CHECK(produced(snapshot, workspace).empty());
  workspace.write("in.csv", "changed by the code\n");
  CHECK(produced(snapshot, workspace) == Names{"in.csv"});
  upload("e,f\n");
  workspace.write("in.csv", "uploaded and changed\n");
  CHECK(produced(snapshot, workspace) == Names{"in.csv"});
}

TEST_CASE("a removed and remade file is new again") {
  const Workspace workspace;
  WorkspaceSnapshot snapshot;
  workspace.write("x", "1");
  CHECK(produced(snapshot, workspace) == Names{"x"});
  std::filesystem::remove(workspace.path("x"));
  CHECK(produced(snapshot, workspace).empty());
  workspace.write("x", "1");
  CHECK(produced(snapshot, workspace) == Names{"x"});
}

TEST_CASE("the report is cut at its bound and tells the total") {
  const Workspace workspace;
  for (int i = 0; i < 150; ++i) workspace.write("f" + std::to_string(1000 + i), "");
  WorkspaceSnapshot snapshot;
  const auto result = snapshot.update(workspace.fd());
  CHECK(result.files.size() == WorkspaceSnapshot::kMaxReported);
  CHECK(result.files.front().filename == "f1000");
  CHECK(result.total == 150);
}

TEST_CASE("the walk is bounded in depth and number") {
  const Workspace workspace;
  std::string deep;
  for (int i = 0; i < 40; ++i) deep += "d/";
  workspace.write(deep + "too-deep", "");
  workspace.link("..", "d/up");
  for (int i = 0; i < 6000; ++i) workspace.write("many/" + std::to_string(i), "");
  WorkspaceSnapshot snapshot;
  CHECK(snapshot.update(workspace.fd()).total <= WorkspaceSnapshot::kMaxWalked);
}

TEST_CASE("a name that is not UTF-8 is reported in valid UTF-8") {
  const Workspace workspace;
  workspace.write("caf\xE9.txt", "");
  WorkspaceSnapshot snapshot;
  CHECK(produced(snapshot, workspace) == Names{"caf\uFFFD.txt"});
}

// SPDX-License-Identifier: Apache-2.0
#include "server/files/upload_file.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <thread>

#include "workspace.h"

using namespace rookery::server;
using rookery::test::status_of;
using rookery::test::Workspace;
using Names = std::vector<std::string>;

namespace {

// The status of a whole upload, 0 when it went well.
int put(int workspace, std::string_view path, std::string_view content, const RecordOwnWrite& record = {}) {
  auto begun = UploadFile::begin(workspace, path);
  if (begun.index() == 1) return status_of(begun);
  auto& upload = std::get<0>(begun);
  if (const auto refused = upload.write(content)) return refused->status;
  return status_of(upload.commit(record));
}

struct stat status(const Workspace& workspace, std::string_view name) {
  struct stat result {};
  REQUIRE(::lstat(workspace.path(name).c_str(), &result) == 0);
  return result;
}

}  // namespace

TEST_CASE("an upload appears whole, under its name only") {
  const Workspace workspace;
  auto begun = UploadFile::begin(workspace.fd(), "/workspace/d/new/x.bin");
  REQUIRE(begun.index() == 0);
  auto& upload = std::get<0>(begun);
  CHECK_FALSE(upload.write("half "));
  CHECK_FALSE(std::filesystem::exists(workspace.path("d/new/x.bin")));
  CHECK_FALSE(upload.write("whole"));
  const auto done = upload.commit();
  REQUIRE(done.index() == 0);
  CHECK(std::get<0>(done).path == "d/new/x.bin");
  CHECK(std::get<0>(done).size_bytes == 10);
  CHECK(workspace.read("d/new/x.bin") == "half whole");
  CHECK((status(workspace, "d/new/x.bin").st_mode & 07777) == 0644);
  CHECK((status(workspace, "d/new").st_mode & 07777) == 0755);
  CHECK(workspace.all() == Names{"d", "d/new", "d/new/x.bin"});
}

TEST_CASE("an upload replaces a file in one step; who has it open keeps the old one") {
  const Workspace workspace;
  workspace.write("x", "old");
  const rookery::sys::UniqueFd old(::open(workspace.path("x").c_str(), O_RDONLY | O_CLOEXEC));
  CHECK(put(workspace.fd(), "x", "new") == 0);
  CHECK(workspace.read("x") == "new");
  char content[8]{};
  CHECK(::read(old.get(), content, sizeof(content)) == 3);
  CHECK(std::string(content) == "old");
  CHECK(workspace.all() == Names{"x"});
}

TEST_CASE("an abandoned upload leaves nothing, not even its directories") {
  const Workspace workspace;
  workspace.write("kept/file", "");
  {
    auto begun = UploadFile::begin(workspace.fd(), "kept/a/b/c/x");
    REQUIRE(begun.index() == 0);
    CHECK_FALSE(std::get<0>(begun).write("some"));
    CHECK(std::filesystem::exists(workspace.path("kept/a/b/c")));
  }
  CHECK(workspace.all() == Names{"kept", "kept/file"});
  {
    auto begun = UploadFile::begin(workspace.fd(), "a/b/x");
    workspace.write("a/other", "of the session");
  }
  CHECK(workspace.all() == Names{"a", "a/other", "kept", "kept/file"});
}

TEST_CASE("files and directories belong to the owner of the workspace") {
  if (::geteuid() != 0) return;
  const Workspace workspace;
  REQUIRE(::fchown(workspace.fd(), 12345, 23456) == 0);
  const mode_t mask = ::umask(0077);
  CHECK(put(workspace.fd(), "d/e/x", "") == 0);
  ::umask(mask);
  for (const auto* name : {"d", "d/e", "d/e/x"}) {
    CHECK(status(workspace, name).st_uid == 12345);
    CHECK(status(workspace, name).st_gid == 23456);
  }
  CHECK((status(workspace, "d/e").st_mode & 07777) == 0755);
  CHECK((status(workspace, "d/e/x").st_mode & 07777) == 0644);
}

TEST_CASE("odd targets are refused and stay as they are") {
  const Workspace workspace;
  workspace.write("dir/file", "x");
  workspace.fifo("fifo");
  workspace.socket("sock");
  const Names before = workspace.all();
  for (const std::string path : {"dir", "dir/", ".", "./", "/workspace", "/workspace/", "/workspace/.", "", "new/", "dir/file/", "dir/.."}) {
    CAPTURE(path);
    CHECK(put(workspace.fd(), path, "FORGED") == 400);
  }
  for (const std::string path : {"fifo", "sock", "dir/file/x", "dir/file/x/y"}) {
    CAPTURE(path);
    CHECK(put(workspace.fd(), path, "FORGED") == 409);
  }
  for (const std::string path : {"/etc/probe", "../x", "/workspace/../etc/probe", "/proc/self/mem", "..", "/workspace/..", "new/../../x", "nothing/.."}) {
    CAPTURE(path);
    CHECK(put(workspace.fd(), path, "FORGED") == (path == "nothing/.." ? 400 : 403));
  }
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "d/";
  CHECK(put(workspace.fd(), deep + "x", "FORGED") == 400);
  CHECK(workspace.all() == before);
}

TEST_CASE("names with a meaning to a shell are only names") {
  const Workspace workspace;
  for (const auto* name : {"a;touch pwned", "$(id)", "`id`", "--help", "%2e%2e", "\xFF\xFE", "new\nline", " "}) {
    CHECK(put(workspace.fd(), name, name) == 0);
    CHECK(workspace.read(name) == name);
  }
  CHECK(put(workspace.fd(), std::string(255, 'n'), "") == 0);
}

TEST_CASE("symlinks are followed while they stay inside, never out") {
  const Workspace workspace;
  workspace.write("d/real", "old");
  workspace.link("d", "ok");
  workspace.link("d/real", "file");
  workspace.link("../d/real", "d/back");
  workspace.link("d/fresh", "dangling");
  workspace.link("../../../../tmp/newfile", "dangling-out");
  workspace.link("/", "root");
  workspace.link(workspace.outside().string(), "away");
  workspace.link("../outside", "up");
  workspace.link("loop", "loop");
  CHECK(put(workspace.fd(), "ok/in.txt", "1") == 0);
  CHECK(workspace.read("d/in.txt") == "1");
  CHECK(put(workspace.fd(), "file", "2") == 0);
  CHECK(put(workspace.fd(), "d/back", "3") == 0);
  CHECK(workspace.read("d/real") == "3");
  CHECK(std::filesystem::is_symlink(workspace.path("file")));
  CHECK(put(workspace.fd(), "dangling", "4") == 0);
  CHECK(workspace.read("d/fresh") == "4");
  for (const std::string path : {"dangling-out", "root/tmp/evil", "away", "up", "loop", "dangling-out/x"}) {
    CAPTURE(path);
    CHECK(put(workspace.fd(), path, "FORGED") == 403);
  }
  CHECK(std::filesystem::file_size(workspace.outside()) == 7);
}

TEST_CASE("uploads into the same new directory do not spoil each other") {
  const Workspace workspace;
  auto doomed = std::make_unique<FileResult<UploadFile>>(UploadFile::begin(workspace.fd(), "new/deep/a"));
  auto good = UploadFile::begin(workspace.fd(), "new/deep/b");
  REQUIRE(doomed->index() == 0);
  REQUIRE(good.index() == 0);
  doomed.reset();
  CHECK(std::get<0>(good).commit().index() == 0);
  CHECK(workspace.all() == Names{"new", "new/deep", "new/deep/b"});
}

TEST_CASE("an upload may learn its name after its content") {
  const Workspace workspace;
  workspace.fifo("fifo");
  auto begun = UploadFile::begin(workspace.fd(), "first/place/x");
  REQUIRE(begun.index() == 0);
  auto& upload = std::get<0>(begun);
  CHECK_FALSE(upload.write("content"));
  CHECK(upload.move_to(workspace.fd(), "../x").value().status == 403);
  CHECK(upload.move_to(workspace.fd(), "fifo").value().status == 409);
  CHECK_FALSE(upload.move_to(workspace.fd(), "first/y"));
  CHECK_FALSE(upload.move_to(workspace.fd(), "other/z"));
  const auto done = upload.commit();
  REQUIRE(done.index() == 0);
  CHECK(std::get<0>(done).path == "other/z");
  CHECK(workspace.read("other/z") == "content");
  CHECK(workspace.all() == Names{"fifo", "other", "other/z"});
}

TEST_CASE("many uploads race for one directory and one name") {
  const Workspace workspace;
  std::vector<std::thread> threads;
  std::atomic<int> failures = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 50; ++round) {
        const std::string directory = "r" + std::to_string(round) + "/x/y/";
        if (put(workspace.fd(), directory + std::to_string(i), "own") != 0) ++failures;
        if (put(workspace.fd(), directory + "shared", "shared") != 0) ++failures;
      }
    });
  }
  for (auto& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(workspace.all().size() == 50 * (3 + 5));
}

TEST_CASE("a full disk is told and nothing remains") {
  if (::geteuid() != 0) return;
  const Workspace workspace;
  std::filesystem::create_directory(workspace.path("small"));
  if (::mount("none", workspace.path("small").c_str(), "tmpfs", 0, "size=64k,nr_inodes=16") != 0) return;
  {
    const rookery::sys::UniqueFd small(::open(workspace.path("small").c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    CHECK(put(small.get(), "d/x", std::string(1 << 20, 'x')) == 413);
    CHECK(put(small.get(), "d/x", std::string(32 << 10, 'x')) == 0);
    std::string deep;
    for (int i = 0; i < 20; ++i) deep += "i/";
    CHECK(put(small.get(), deep + "x", "") == 413);
  }
  CHECK(workspace.all() == Names{"small", "small/d", "small/d/x"});
  CHECK(::umount2(workspace.path("small").c_str(), MNT_DETACH) == 0);
}

TEST_CASE("the version is recorded before it can be seen") {
  const Workspace workspace;
  FileVersion recorded;
  const auto record = [&](const FileVersion& version) {
    recorded = version;
    CHECK_FALSE(std::filesystem::exists(workspace.path("x")));
  };
  CHECK(put(workspace.fd(), "x", "12345", record) == 0);
  CHECK(recorded == version_of(status(workspace, "x")));
}

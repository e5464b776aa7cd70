// SPDX-License-Identifier: Apache-2.0
#include "server/editor/editor.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "workspace.h"

using namespace rookery::server;
using rookery::contract::CallOutcome;
using rookery::contract::EditorCommand;
using rookery::contract::EditorInput;
using rookery::test::Workspace;
using Names = std::vector<std::string>;

namespace {

struct Session {
  Workspace workspace;
  Editor editor;

  CallOutcome run(const EditorInput& input) { return editor.run(workspace.fd(), input); }
  CallOutcome view(std::string path) { return run({.command = EditorCommand::kView, .path = std::move(path)}); }
  CallOutcome view(std::string path, std::int64_t first, std::int64_t last) {
    EditorInput input{.command = EditorCommand::kView, .path = std::move(path)};
    input.view_range = {first, last};
    return run(input);
  }
  CallOutcome create(std::string path, std::string text) {
    return run({.command = EditorCommand::kCreate, .path = std::move(path), .file_text = std::move(text)});
  }
  CallOutcome replace(std::string path, std::string old_str, std::string new_str) {
    return run({.command = EditorCommand::kStrReplace, .path = std::move(path), .old_str = std::move(old_str), .new_str = std::move(new_str)});
  }
  CallOutcome insert(std::string path, std::int64_t line, std::string text) {
    return run({.command = EditorCommand::kInsert, .path = std::move(path), .new_str = std::move(text), .insert_line = line});
  }
  CallOutcome undo(std::string path) { return run({.command = EditorCommand::kUndoEdit, .path = std::move(path)}); }
};

void check_done(const CallOutcome& outcome, const std::string& out) {
  CHECK(outcome.return_code == 0);
  CHECK(outcome.err.empty());
  CHECK(outcome.out == out);
}

void check_refused(const CallOutcome& outcome, const std::string& detail) {
  CHECK(outcome.return_code == 1);
  CHECK(outcome.out.empty());
  CHECK(outcome.err == "text_editor: " + detail + "\n");
}

}  // namespace

TEST_CASE("a view shows the bytes of a file") {
  Session session;
  session.workspace.write("crlf.txt", "\xEF\xBB\xBFone\r\ntwo");
  check_done(session.view("crlf.txt"), "\xEF\xBB\xBFone\r\ntwo");
  check_done(session.view("/workspace/crlf.txt"), "\xEF\xBB\xBFone\r\ntwo");
  session.workspace.write("latin1.txt", "caf\xE9\n");
  check_done(session.view("latin1.txt"), "caf\xE9\n");
  session.workspace.write("empty", "");
  check_done(session.view("empty"), "");
}

TEST_CASE("a view range counts lines as other tools do") {
  Session session;
  session.workspace.write("u.txt", "one\u2028two\nthree\nfour\n");
  check_done(session.view("u.txt", 2, 2), "three");
  check_done(session.view("u.txt", 2, -1), "three\nfour");
  check_done(session.view("u.txt", 0, 1), "one\u2028two");
  check_done(session.view("u.txt", 3, 99), "four");
  check_refused(session.view("u.txt", 4, 9), "view_range [4, 9] shows no line of u.txt, which has 3");
  check_refused(session.view("u.txt", 2, 1), "view_range [2, 1] shows no line of u.txt, which has 3");
  check_refused(session.view("u.txt", INT64_MIN, INT64_MIN), "view_range [-9223372036854775808, -9223372036854775808] shows no line of u.txt, which has 3");
  session.workspace.write("empty", "");
  check_done(session.view("empty", 1, -1), "");
}

TEST_CASE("a view of a directory lists two levels") {
  Session session;
  for (const auto* name : {"b.txt", "a/x", "a/deep/hidden-from-view", ".dot", "a.txt"}) session.workspace.write(name, "");
  session.workspace.link("/etc", "link");
  check_done(session.view("."), ".dot\na\na/deep\na/x\na.txt\nb.txt\nlink\n");
  check_done(session.view("/workspace/"), ".dot\na\na/deep\na/x\na.txt\nb.txt\nlink\n");
  check_done(session.view("a"), "deep\ndeep/hidden-from-view\nx\n");
  std::filesystem::create_directory(session.workspace.path("none"));
  check_done(session.view("none"), "\n");
  check_refused(session.view("link"), "path escapes workspace: link");
}

TEST_CASE("views and listings are bounded and say so") {
  const Workspace workspace;
  Editor editor({.file_bytes = 1000, .output_bytes = 100, .listed_entries = 3});
  workspace.write("d/long", std::string(1000, 'x'));
  workspace.write("d/too-long", std::string(1001, 'x'));
  const auto cut = editor.run(workspace.fd(), {.command = EditorCommand::kView, .path = "d/long"});
  CHECK(cut.out.find("\n... [output truncated by sandbox: 900 bytes elided]\n") == 50);
  CHECK(cut.limit == rookery::contract::Limit::kOutput);
  check_refused(editor.run(workspace.fd(), {.command = EditorCommand::kView, .path = "d/too-long"}), "file is too large: d/too-long");
  check_refused(editor.run(workspace.fd(), {.command = EditorCommand::kCreate, .path = "new", .file_text = std::string(1001, 'x')}),
                "file is too large: new");
  check_refused(editor.run(workspace.fd(), {.command = EditorCommand::kInsert, .path = "d/long", .new_str = "y", .insert_line = 0}),
                "file is too large: d/long");
  for (const auto* name : {"a", "b", "c"}) workspace.write(name, "");
  const auto listed = editor.run(workspace.fd(), {.command = EditorCommand::kView, .path = "."});
  CHECK(listed.out.ends_with("... (more than 3 entries)\n"));
}

TEST_CASE("create makes a new file and its directories") {
  Session session;
  check_done(session.create("d/new.txt", "text \u00e9\r\n"), "File created: d/new.txt\n");
  CHECK(session.workspace.read("d/new.txt") == "text \u00e9\r\n");
  check_refused(session.create("d/new.txt", "other"), "already exists: d/new.txt");
  check_refused(session.create("d", ""), "already exists: d");
  check_refused(session.create("d/new.txt/x", ""), "a parent is not a directory: d/new.txt/x");
  check_refused(session.create("e/", ""), "is a directory: e/");
  check_refused(session.run({.command = EditorCommand::kCreate, .path = "x"}), "create requires file_text");
  CHECK(session.workspace.read("d/new.txt") == "text \u00e9\r\n");
  CHECK(session.workspace.all() == Names{"d", "d/new.txt"});
}

TEST_CASE("str_replace edits bytes and keeps the file's mode") {
  Session session;
  session.workspace.write("w.txt", "a = 1\r\nb = 2\r\nc = 3\r\n");
  REQUIRE(::chmod(session.workspace.path("w.txt").c_str(), 0750) == 0);
  check_done(session.replace("w.txt", "b = 2\nc", "b = 9\nc"), "Edited w.txt\n");
  CHECK(session.workspace.read("w.txt") == "a = 1\r\nb = 9\r\nc = 3\r\n");
  struct stat status {};
  REQUIRE(::stat(session.workspace.path("w.txt").c_str(), &status) == 0);
  CHECK((status.st_mode & 07777) == 0750);
  check_done(session.undo("w.txt"), "Reverted w.txt\n");
  CHECK(session.workspace.read("w.txt") == "a = 1\r\nb = 2\r\nc = 3\r\n");

  session.workspace.write("l1.txt", "caf\xE9\nsize\n");
  check_done(session.replace("l1.txt", "size", "SIZE"), "Edited l1.txt\n");
  CHECK(session.workspace.read("l1.txt") == "caf\xE9\nSIZE\n");
  CHECK(session.workspace.all() == Names{"l1.txt", "w.txt"});
}

TEST_CASE("str_replace tells why it did not") {
  Session session;
  session.workspace.write("a.txt", "x y x");
  check_refused(session.replace("a.txt", "z", "q"), "old_str not found in a.txt");
  check_refused(session.replace("a.txt", "x", "q"), "old_str matched 2 times in a.txt; must be unique");
  check_refused(session.replace("a.txt", "", "q"), "old_str must not be empty");
  check_refused(session.run({.command = EditorCommand::kStrReplace, .path = "a.txt", .old_str = "x"}), "str_replace requires old_str and new_str");
  check_refused(session.replace("missing", "x", "y"), "file not found: missing");
  check_refused(session.undo("a.txt"), "no edits to undo for a.txt");
  CHECK(session.workspace.read("a.txt") == "x y x");
}

TEST_CASE("insert adds lines") {
  Session session;
  session.workspace.write("a.txt", "one\ntwo");
  check_done(session.insert("a.txt", 2, "three"), "Inserted into a.txt\n");
  check_done(session.insert("a.txt", 0, "zero\n"), "Inserted into a.txt\n");
  CHECK(session.workspace.read("a.txt") == "zero\none\ntwo\nthree\n");
  check_refused(session.insert("a.txt", 5, "x"), "insert_line 5 out of range for a.txt");
  check_refused(session.insert("a.txt", -1, "x"), "insert_line -1 out of range for a.txt");
  check_refused(session.run({.command = EditorCommand::kInsert, .path = "a.txt", .new_str = "x"}), "insert requires new_str and insert_line");
}

TEST_CASE("undo goes back edit by edit, for each file, however its path is spelled") {
  Session session;
  session.workspace.write("d/a", "1");
  session.workspace.write("b", "x");
  session.workspace.link("d", "ln");
  session.workspace.link("d/a", "file-link");
  check_done(session.replace("d/a", "1", "2"), "Edited d/a\n");
  check_done(session.replace("b", "x", "y"), "Edited b\n");
  check_done(session.replace("file-link", "2", "3"), "Edited file-link\n");
  CHECK(session.workspace.read("d/a") == "3");
  CHECK(std::filesystem::is_symlink(session.workspace.path("file-link")));
  check_done(session.undo("/workspace/./d//a"), "Reverted /workspace/./d//a\n");
  CHECK(session.workspace.read("d/a") == "2");
  std::filesystem::remove(session.workspace.path("d/a"));
  check_done(session.undo("ln/a"), "Reverted ln/a\n");
  CHECK(session.workspace.read("d/a") == "1");
  check_refused(session.undo("d/a"), "no edits to undo for d/a");
  check_done(session.undo("b"), "Reverted b\n");
}

TEST_CASE("a failed undo can be tried again") {
  Session session;
  session.workspace.write("a", "1");
  check_done(session.replace("a", "1", "2"), "Edited a\n");
  std::filesystem::remove(session.workspace.path("a"));
  std::filesystem::create_directory(session.workspace.path("a"));
  check_refused(session.undo("a"), "not a regular file: a");
  std::filesystem::remove(session.workspace.path("a"));
  check_done(session.undo("a"), "Reverted a\n");
}

TEST_CASE("no command reaches out of the workspace") {
  Session session;
  const std::string outside = session.workspace.outside().string();
  session.workspace.link(outside, "l1");
  session.workspace.link("/", "l2");
  session.workspace.link("../../../../tmp/newfile", "dangling");
  session.workspace.link("../outside", "up");
  for (const std::string path : {"/etc/passwd", "../outside", "l1", "l2/etc/passwd", "dangling", "up", "a/../../outside", "/workspace/../outside"}) {
    CAPTURE(path);
    const std::string detail = "path escapes workspace: " + path;
    check_refused(session.view(path), detail);
    check_refused(session.create(path, "FORGED"), detail);
    check_refused(session.replace(path, "OUT", "FORGED"), detail);
    check_refused(session.insert(path, 0, "FORGED"), detail);
    check_refused(session.undo(path), detail);
  }
  CHECK(std::filesystem::file_size(outside) == 7);
  CHECK_FALSE(std::filesystem::exists("/tmp/newfile"));
  check_refused(session.view(std::string(5000, 'a')), "path is longer than 4096 bytes");
}

TEST_CASE("special files are refused at once") {
  Session session;
  session.workspace.fifo("fifo");
  session.workspace.socket("sock");
  for (const std::string path : {"fifo", "sock"}) {
    check_refused(session.view(path), "not a regular file: " + path);
    check_refused(session.replace(path, "a", "b"), "not a regular file: " + path);
    check_refused(session.create(path, "a"), "already exists: " + path);
  }
}

TEST_CASE("what the editor writes is recorded") {
  const Workspace workspace;
  Editor editor;
  WorkspaceSnapshot snapshot;
  const auto run = [&](const EditorInput& input) { CHECK(editor.run(workspace.fd(), input, snapshot.recorder()).return_code == 0); };
  run({.command = EditorCommand::kCreate, .path = "a", .file_text = "1"});
  CHECK(snapshot.update(workspace.fd()).total == 0);
  run({.command = EditorCommand::kStrReplace, .path = "a", .old_str = "1", .new_str = "2"});
  CHECK(snapshot.update(workspace.fd()).total == 0);
  run({.command = EditorCommand::kUndoEdit, .path = "a"});
  CHECK(snapshot.update(workspace.fd()).total == 0);
}

# SPDX-License-Identifier: Apache-2.0
from harness import ServerTestCase


class Editor(ServerTestCase):
    def edited(self, command, path, **fields):
        result = self.session.edit(command, path, **fields)
        self.assertEqual((result.status, result.return_code, result.stderr), (200, 0, ""), result)
        return result.stdout

    def refused(self, command, path, **fields):
        result = self.session.edit(command, path, **fields)
        self.assertEqual((result.status, result.return_code, result.stdout), (200, 1, ""), result)
        self.assertTrue(result.stderr.startswith("text_editor: "), result.stderr)
        return result.stderr

    def content(self, path):
        return bytes(self.session.get(path).body)

    def store(self, path, data):
        self.assertEqual(self.session.put(data, path).status, 201)

    def test_create_makes_parents_and_refuses_what_exists(self):
        self.edited("create", "a/b/c", file_text="1\n")
        self.refused("create", "a/b/c", file_text="2\n")
        self.refused("create", "a", file_text="2\n")
        self.refused("create", "a/b/c/d", file_text="2\n")
        self.assertEqual(self.content("a/b/c"), b"1\n")

    def test_created_files_belong_to_the_session(self):
        self.edited("create", "x.sh", file_text="echo hi\n")
        self.assertEqual(self.shell("echo more >> x.sh; stat -c %U x.sh"), "sandbox\n")

    def test_str_replace_of_none_or_many_changes_nothing(self):
        self.store("f", b"aa b aa\n")
        self.assertIn("2", self.refused("str_replace", "f", old_str="aa", new_str="x"))
        self.assertIn("not found", self.refused("str_replace", "f", old_str="zz", new_str="x"))
        self.assertEqual(self.content("f"), b"aa b aa\n")

    def test_str_replace_by_nothing_deletes(self):
        self.store("f", b"keep drop keep2")
        self.edited("str_replace", "f", old_str=" drop", new_str="")
        self.assertEqual(self.content("f"), b"keep keep2")

    def test_overlapping_matches_count_as_several(self):
        self.store("f", b"aaa")
        result = self.session.edit("str_replace", "f", old_str="aa", new_str="b")
        self.assertEqual(result.status, 200)

    def test_bytes_outside_the_edit_stay(self):
        for name, before, old, new, after in (
            ("crlf", b"a\r\nb\r\nc", "b", "B", b"a\r\nB\r\nc"),
            ("bom", b"\xef\xbb\xbfa\nb\n", "b", "B", b"\xef\xbb\xbfa\nB\n"),
            ("latin", b"\xe9 x\n", "x", "y", b"\xe9 y\n"),
            ("mixed", b"a\nb\r\nc\rd", "c", "C", b"a\nb\r\nC\rd"),
            ("nul", b"a\0b\n", "b", "c", b"a\0c\n")):
            self.store(name, before)
            self.edited("str_replace", name, old_str=old, new_str=new)
            self.assertEqual(self.content(name), after, name)
            self.edited("undo_edit", name)
            self.assertEqual(self.content(name), before, name + " undone")

    def test_multi_line_match_in_a_crlf_file(self):
        self.store("f", b"a = 1\r\nb = 2\r\nc = 3\r\n")
        self.edited("str_replace", "f", old_str="b = 2\nc", new_str="b = 9\nc")
        self.assertEqual(self.content("f"), b"a = 1\r\nb = 9\r\nc = 3\r\n")

    def test_mode_survives_an_edit(self):
        self.shell("printf 'x\\n' > f; chmod 750 f")
        self.edited("str_replace", "f", old_str="x", new_str="y")
        self.assertEqual(self.shell("stat -c %a f"), "750\n")

    def test_insert_at_every_place(self):
        self.store("f", b"1\n2")
        self.edited("insert", "f", insert_line=0, new_str="0")
        self.edited("insert", "f", insert_line=3, new_str="3")
        self.assertEqual(self.content("f").split(), [b"0", b"1", b"2", b"3"])
        self.refused("insert", "f", insert_line=50, new_str="x")
        self.refused("insert", "f", insert_line=-1, new_str="x")

    def test_undo_is_a_stack_of_each_file(self):
        self.store("f", b"0")
        for old, new in ("01", "12", "23"):
            self.edited("str_replace", "f", old_str=old, new_str=new)
        self.store("g", b"a")
        self.edited("str_replace", "g", old_str="a", new_str="b")
        for wanted in (b"2", b"1", b"0"):
            self.edited("undo_edit", "f")
            self.assertEqual(self.content("f"), wanted)
        self.refused("undo_edit", "f")
        self.assertEqual(self.content("g"), b"b")

    def test_a_hundred_edits_can_be_undone(self):
        self.store("f", b"n0")
        for number in range(120):
            self.edited("str_replace", "f", old_str="n%d" % number, new_str="n%d" % (number + 1))
        for _ in range(100):
            self.edited("undo_edit", "f")
        self.assertEqual(self.content("f"), b"n20")

    def test_view_of_ranges(self):
        self.store("f", b"".join(b"line%d\n" % n for n in range(1, 6)))
        for span, inside, outside in (([1, 1], ["line1"], ["line2"]), ([2, 3], ["line2", "line3"], ["line1", "line4"]),
                                      ([4, -1], ["line4", "line5"], ["line3"])):
            shown = self.edited("view", "f", view_range=span)
            self.assertTrue(all(text in shown for text in inside) and not any(text in shown for text in outside), shown)

    def test_view_of_a_directory_is_two_levels_sorted(self):
        for name in ("b/2", "a/1", "c", "a/d/deep"):
            self.edited("create", name, file_text="x")
        shown = self.edited("view", ".")
        self.assertNotIn("deep", shown)
        places = [shown.index(name) for name in ("a", "b", "c")]
        self.assertEqual(places, sorted(places))

    def test_special_files_and_outside_are_refused_at_once(self):
        self.shell("mkfifo fifo; ln -s /etc/passwd link; ln -s / root; ln -s /proc/self/environ env")
        for path in ("fifo", "link", "env", "root/etc/passwd", "../x", "/etc/passwd", "/proc/self/environ", "missing", "x" * 5000):
            for command, fields in (("view", {}), ("str_replace", {"old_str": "a", "new_str": "b"}),
                                    ("insert", {"insert_line": 0, "new_str": "x"}), ("undo_edit", {})):
                with self.subTest(path=path[:30], command=command):
                    self.refused(command, path, **fields)

    def test_absolute_workspace_paths_are_the_same_place(self):
        self.edited("create", "/workspace/abs", file_text="1")
        self.edited("str_replace", "abs", old_str="1", new_str="2")
        self.edited("undo_edit", "/workspace/abs")
        self.assertEqual(self.content("abs"), b"1")

    def test_missing_fields_are_refused_and_change_nothing(self):
        self.store("f", b"a")
        for command, fields in (("create", {}), ("str_replace", {"new_str": "b"}), ("insert", {"new_str": "x"})):
            result = self.session.edit(command, "f" if command != "create" else "g", **fields)
            self.assertTrue(result.status == 422 or result.return_code == 1, (command, result))
        self.assertEqual((self.content("f"), self.session.names()), (b"a", ["f"]))

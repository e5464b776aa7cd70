# SPDX-License-Identifier: Apache-2.0
from ..registry import clause, equal, expect, succeeds


def refused(result):
    """An editor failure: return code 1 and a text on stderr, never an HTTP error."""
    equal((result.status, result.return_code), (200, 1), "refusal")
    expect(result.stderr.startswith("text_editor:") and result.stdout == "", result)
    return result


def content(session, path):
    return bytes(session.get(path).body)


@clause("text_editor", "create makes the file with its parents and does not echo its content")
def create(sandbox):
    with sandbox.create() as session:
        result = succeeds(session.edit("create", "a/b/c.txt", file_text="unmistakable\n"))
        expect("unmistakable" not in result.stdout, result)
        equal(content(session, "a/b/c.txt"), b"unmistakable\n")


@clause("text_editor", "create refuses an existing file and needs file_text")
def create_refused(sandbox):
    with sandbox.create() as session:
        session.edit("create", "f", file_text="one")
        refused(session.edit("create", "f", file_text="two"))
        equal(content(session, "f"), b"one")
        result = session.edit("create", "g")
        expect(result.status == 422 or result.return_code == 1, result)


@clause("text_editor", "view shows a file, a line range, and a directory two levels deep")
def view(sandbox):
    with sandbox.create() as session:
        session.edit("create", "d/e/f/g.txt", file_text="x")
        session.edit("create", "n.txt", file_text="one\ntwo\nthree\n")
        whole = succeeds(session.edit("view", "n.txt")).stdout
        expect(all(word in whole for word in ("one", "two", "three")), whole)
        middle = succeeds(session.edit("view", "n.txt", view_range=[2, 2])).stdout
        expect("two" in middle and "one" not in middle and "three" not in middle, middle)
        tail = succeeds(session.edit("view", "n.txt", view_range=[2, -1])).stdout
        expect("two" in tail and "three" in tail and "one" not in tail, tail)
        listing = succeeds(session.edit("view", ".")).stdout
        expect("d" in listing and "e" in listing and "n.txt" in listing and "g.txt" not in listing, listing)


@clause("text_editor", "view counts lines by newline only")
def view_lines(sandbox):
    with sandbox.create() as session:
        session.code("open('u.txt', 'w').write('one\\u2028two\\x0ctwo\\nthree\\n')")
        shown = succeeds(session.edit("view", "u.txt", view_range=[2, 2])).stdout
        expect("three" in shown and "one" not in shown, shown)


@clause("text_editor", "view refuses what is missing, a bad range and a file that is not regular")
def view_refused(sandbox):
    with sandbox.create() as session:
        session.edit("create", "f", file_text="1\n2\n")
        session.bash("mkfifo fifo")
        refused(session.edit("view", "missing"))
        for bad in ([0, 1], [3, 2], [-2, -1], [1, 2, 3]):
            expect(session.edit("view", "f", view_range=bad).status in (200, 422), bad)
        result = session.edit("view", "fifo")
        expect(result.return_code == 1 and result.wall < 2, result)


@clause("text_editor", "str_replace needs exactly one match and names the count")
def str_replace(sandbox):
    with sandbox.create() as session:
        session.edit("create", "f", file_text="a b b c\n")
        succeeds(session.edit("str_replace", "f", old_str="a", new_str="x"))
        equal(content(session, "f"), b"x b b c\n")
        expect("2" in refused(session.edit("str_replace", "f", old_str="b", new_str="y")).stderr, "no count")
        refused(session.edit("str_replace", "f", old_str="zzz", new_str="y"))
        equal(content(session, "f"), b"x b b c\n")


@clause("text_editor", "insert puts text after a line, at the top for 0, and refuses a line beyond the end")
def insert(sandbox):
    with sandbox.create() as session:
        session.edit("create", "f", file_text="one\ntwo\n")
        succeeds(session.edit("insert", "f", insert_line=1, new_str="between"))
        succeeds(session.edit("insert", "f", insert_line=0, new_str="top\n"))
        equal(content(session, "f"), b"top\none\nbetween\ntwo\n")
        refused(session.edit("insert", "f", insert_line=99, new_str="x"))
        refused(session.edit("insert", "f", insert_line=-1, new_str="x"))


@clause("text_editor", "undo_edit goes back step by step, and says when there is nothing to undo")
def undo(sandbox):
    with sandbox.create() as session:
        session.edit("create", "f", file_text="1")
        session.edit("str_replace", "f", old_str="1", new_str="2")
        session.edit("str_replace", "f", old_str="2", new_str="3")
        succeeds(session.edit("undo_edit", "f"))
        equal(content(session, "f"), b"2")
        succeeds(session.edit("undo_edit", "f"))
        equal(content(session, "f"), b"1")
        refused(session.edit("undo_edit", "never-edited"))


@clause("text_editor", "an edit leaves every byte outside it alone")
def byte_exact(sandbox):
    with sandbox.create() as session:
        session.code("open('crlf', 'wb').write(b'\\xef\\xbb\\xbfa = 1\\r\\nb = 2\\r\\nc = 3')\n"
                     "open('latin', 'wb').write(b'caf\\xe9\\nsize\\n')")
        succeeds(session.edit("str_replace", "crlf", old_str="b = 2\nc", new_str="b = 9\nc"))
        equal(content(session, "crlf"), b"\xef\xbb\xbfa = 1\r\nb = 9\r\nc = 3", "CRLF, BOM, last line")
        succeeds(session.edit("undo_edit", "crlf"))
        equal(content(session, "crlf"), b"\xef\xbb\xbfa = 1\r\nb = 2\r\nc = 3", "undone")
        succeeds(session.edit("str_replace", "latin", old_str="size", new_str="SIZE"))
        equal(content(session, "latin"), b"caf\xe9\nSIZE\n", "another encoding")


@clause("text_editor", "a path outside the workspace is refused, an absolute one inside is the same place")
def confined(sandbox):
    with sandbox.create() as session:
        session.bash("ln -s /etc/passwd link; ln -s / root; ln -s ../../../../tmp/new dangling")
        for path in ("../../etc/passwd", "/etc/passwd", "link", "root/etc/passwd", "a/../../b", "//etc/passwd", "dangling"):
            expect("root:" not in refused(session.edit("view", path)).stdout, path)
            refused(session.edit("create", path, file_text="x"))
            refused(session.edit("str_replace", path, old_str="root", new_str="x"))
        succeeds(session.edit("create", "/workspace/in.txt", file_text="x"))
        equal(content(session, "in.txt"), b"x")

# SPDX-License-Identifier: Apache-2.0
from harness import ServerTestCase


class ProducedFiles(ServerTestCase):
    def produced(self, source):
        result = self.session.code(source, 30)
        self.assertEqual((result.return_code, result.stderr), (0, ""))
        entries = result.raw["result_block"]["content"]["content"]
        for entry in entries:
            self.assertEqual(entry["type"], "code_execution_output")
            self.assertTrue(entry["file_id"])
        return sorted(entry["filename"] for entry in entries)

    def test_new_and_changed_files_and_nothing_else(self):
        self.session.put(b"a,b\n", "in.csv")
        self.assertEqual(self.produced("import os\nopen('r.txt', 'w').write('1')\nos.makedirs('out/deep')\n"
                                       "open('out/deep/p löt.png', 'wb').write(b'PNG')\nprint(open('in.csv').read())"),
                         ["out/deep/p löt.png", "r.txt"])
        self.assertEqual(self.produced("print(1)"), [])
        self.assertEqual(self.produced("open('r.txt').read()"), [])
        self.assertEqual(self.produced("open('r.txt', 'a').write('2')"), ["r.txt"])
        self.assertEqual(self.produced("open('in.csv', 'w').write('changed')"), ["in.csv"])

    def test_each_name_downloads_what_was_written(self):
        for name in self.produced("for n in ('a b', 'ü', 'x#y?z', '%41'): open(n, 'w').write(n)"):
            self.assertEqual(bytes(self.session.get(name).body).decode(), name)

    def test_hidden_files_caches_and_removed_files_are_not_listed(self):
        self.assertEqual(self.produced("import os\nopen('.hidden', 'w').write('x')\nos.makedirs('.cache/d'); open('.cache/d/f', 'w').close()\n"
                                       "os.makedirs('__pycache__'); open('__pycache__/m.pyc', 'w').close()\n"
                                       "open('gone', 'w').close(); os.remove('gone')\nos.symlink('/etc/passwd', 'link'); os.mkfifo('fifo')"), [])

    def test_files_outside_the_workspace_are_not_listed(self):
        self.assertEqual(self.produced("open('/tmp/t', 'w').write('x')"), [])

    def test_renamed_and_replaced_files_are_listed(self):
        self.produced("open('a', 'w').write('1'); open('b', 'w').write('2')")
        self.assertEqual(self.produced("import os; os.rename('a', 'c')"), ["c"])
        self.assertEqual(self.produced("open('n', 'w').write('3'); os.replace('n', 'b')"), ["b"])

    def test_bash_editor_and_failed_calls_list_theirs(self):
        self.assertEqual(self.session.bash("echo 1 > f").files, ["f"])
        self.assertEqual(self.session.bash("touch e; exit 3").files, ["e"])
        self.assertEqual(self.session.code("open('g', 'w').write('x'); 1/0").files, ["g"])
        self.assertEqual(self.session.code("open('h', 'w').write('x')\nimport time; time.sleep(9)", 1).files, ["h"])
        self.assertEqual(self.session.code("open('i', 'w').close()\nimport os; os._exit(3)").files, ["i"])

    def test_a_long_list_is_cut_and_the_total_said(self):
        result = self.session.code("for i in range(500): open('f%03d' % i, 'w').close()")
        self.assertGreaterEqual(len(result.files), 100)
        if len(result.files) < 500:
            self.assertEqual(result.field("files_total"), 500)

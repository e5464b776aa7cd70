# SPDX-License-Identifier: Apache-2.0
"""Files, memory, signals and events of the standard library work in a session, and the usual programs."""

import shutil

from in_sessions import both_modes


class System:
    def needs(self, program):
        if not any(shutil.which(program, path=place) for place in ("/usr/local/bin", "/usr/bin", "/bin")):
            self.skipTest("%s is not installed on this machine" % program)

    def test_sqlite3(self):
        self.works("import sqlite3\nfor at in (':memory:', 'd.sqlite'):\n    c = sqlite3.connect(at)\n    c.execute('pragma journal_mode=wal')\n    c.execute('create table t (a, b)'); c.executemany('insert into t values (?, ?)', [(1, 'x'), (2, 'y')]); c.commit()\n"
                   "    assert c.execute('select b from t where a = 2').fetchone() == ('y',); c.execute('vacuum'); c.close()\nprint('fine')")

    def test_temporary_files(self):
        self.works("import os, tempfile\nassert tempfile.gettempdir() == '/tmp'\nwith tempfile.TemporaryFile() as f: f.write(b'x'); f.seek(0); assert f.read() == b'x'\n"
                   "with tempfile.NamedTemporaryFile() as f: assert os.path.exists(f.name)\nwith tempfile.TemporaryDirectory() as d: open(d + '/a', 'w').close()\nassert not os.path.exists(d)\n"
                   "with tempfile.SpooledTemporaryFile(10) as f: f.write(b'y' * 100)\nprint('fine')")

    def test_mmap(self):
        self.works("import mmap, os\nopen('m', 'wb').write(bytes(8192))\nwith open('m', 'r+b') as f, mmap.mmap(f.fileno(), 0) as m: m[4096:4100] = b'mark'; m.flush(); m.resize(16384)\nassert open('m', 'rb').read()[4096:4100] == b'mark'\n"
                   "m = mmap.mmap(-1, 1 << 20); pid = os.fork()\nif pid == 0: m[0] = 9; os._exit(0)\nos.waitpid(pid, 0); assert m[0] == 9\nm.madvise(mmap.MADV_DONTNEED)\nprint('fine')")

    def test_signals_and_timers(self):
        self.works("import os, signal, time\nseen = []\nsignal.signal(signal.SIGALRM, lambda *a: seen.append('alarm')); signal.signal(signal.SIGUSR1, lambda *a: seen.append('user'))\nsignal.alarm(1); os.kill(os.getpid(), signal.SIGUSR1)\n"
                   "while len(seen) < 2: time.sleep(0.05)\nsignal.setitimer(signal.ITIMER_REAL, 0.05); time.sleep(0.2)\nassert seen == ['user', 'alarm', 'alarm'], seen\n"
                   "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2}); os.kill(os.getpid(), signal.SIGUSR2); assert signal.sigtimedwait({signal.SIGUSR2}, 5).si_signo == signal.SIGUSR2\n"
                   "signal.signal(signal.SIGALRM, signal.SIG_DFL); signal.signal(signal.SIGUSR1, signal.SIG_DFL)\nprint('fine')")

    def test_select_poll_and_epoll(self):
        self.works("import os, select, selectors, socket\nr, w = os.pipe(); os.write(w, b'x')\nassert select.select([r], [], [], 5)[0] == [r]\np = select.poll(); p.register(r, select.POLLIN); assert p.poll(5000)\n"
                   "e = select.epoll(); e.register(r, select.EPOLLIN | select.EPOLLET); assert e.poll(5)\na, b = socket.socketpair()\nwith selectors.DefaultSelector() as s: s.register(a, selectors.EVENT_READ); b.send(b'y'); assert s.select(5)\n"
                   "e = os.eventfd(3); assert os.eventfd_read(e) == 3\nprint('fine')")

    def test_inotify(self):
        self.works("import ctypes, os, struct\nlibc = ctypes.CDLL(None, use_errno=True)\nos.makedirs('watched'); fd = libc.inotify_init1(0o2000000); assert fd >= 0\nassert libc.inotify_add_watch(fd, b'watched', 0x100) > 0\n"
                   "open('watched/new', 'w').close()\n_, mask, _, length = struct.unpack_from('iIII', d := os.read(fd, 4096)); assert mask == 0x100 and d[16:16 + length].rstrip(b'\\0') == b'new'\nprint('fine')")

    def test_zip_tar_and_the_codecs(self):
        self.works("import bz2, gzip, lzma, shutil, tarfile, zipfile, os\nos.makedirs('t/u'); open('t/u/a', 'w').write('text ' * 1000)\nfor kind in ('zip', 'tar', 'gztar', 'bztar', 'xztar'):\n    name = shutil.make_archive('made', kind, 't'); shutil.unpack_archive(name, 'out-' + kind)\n"
                   "    assert open('out-%s/u/a' % kind).read() == 'text ' * 1000\nfor c in (bz2, gzip, lzma): assert c.decompress(c.compress(b'abc')) == b'abc'\nprint('fine')")
        self.assertEqual(self.shell("mkdir -p d && echo hi > d/f && tar czf d.tgz d && rm -r d && tar xzf d.tgz && cat d/f").strip(), "hi")

    def test_files_links_and_locks(self):
        self.works("import fcntl, os, pathlib, shutil\nos.makedirs('p/q'); pathlib.Path('p/f').write_text('x'); os.symlink('f', 'p/s'); os.link('p/f', 'p/h'); os.chmod('p/f', 0o640); os.utime('p/f', (1, 1)); os.mkfifo('p/fifo')\n"
                   "with open('p/f', 'r+') as f: fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, fcntl.LOCK_EX); os.fsync(f.fileno()); os.posix_fallocate(f.fileno(), 0, 4096); os.truncate('p/f', 3)\n"
                   "shutil.copytree('p/q', 'p2'); os.replace('p/h', 'p2/h'); assert os.stat('p/f').st_nlink == 2\n"
                   "with os.scandir('p') as d: assert {e.name for e in d} == {'q', 'f', 's', 'fifo'}\nshutil.rmtree('p')\nprint('fine')")

    def test_a_c_compiler(self):
        self.needs("gcc")
        self.assertEqual(self.shell("printf '#include <stdio.h>\\n#include <pthread.h>\\nint main(void){puts(\"compiled\");return 0;}' > a.c && gcc -O2 -pthread a.c -o a && ./a").strip(), "compiled")

    def test_node(self):
        self.needs("node")
        source = ("const fs=require('fs');const {execSync}=require('child_process');const {Worker}=require('worker_threads');const http=require('http');"
                  "fs.writeFileSync('n','x');const s=http.createServer((q,r)=>r.end('ok')).listen(0,'127.0.0.1',()=>http.get({port:s.address().port},r=>r.on('data',d=>{"
                  "new Worker('require(\"worker_threads\").parentPort.postMessage(2)',{eval:true}).on('message',m=>{console.log(String(d),execSync('echo sh').toString().trim(),m);process.exit()})})))")
        self.session.put(source.encode(), "n.js")
        self.assertEqual(self.shell("node n.js", timeout=60).strip(), "ok sh 2")

    def test_git(self):
        self.needs("git")
        self.assertEqual(self.shell("git init -q r && cd r && git config user.email a@b && git config user.name n && echo 1 > f && git add f && git commit -qm one && git checkout -qb other && echo 2 > f && "
                                    "git commit -qam two && git gc -q && git clone -q . ../c && git -C ../c log --format=%s").split(), ["two", "one"])


both_modes(System, globals())

# SPDX-License-Identifier: Apache-2.0
"""Processes, threads and event loops of Python's standard library work in a session."""

from in_sessions import both_modes


class Processes:
    def test_multiprocessing_in_each_start_method(self):
        for method in ("fork", "spawn", "forkserver"):
            with self.subTest(method=method):
                self.works("import multiprocessing\ndef work(queue, n): queue.put(n * n)\nc = multiprocessing.get_context('%s'); q = c.Queue()\n"
                           "ps = [c.Process(target=work, args=(q, n)) for n in range(3)]\n[p.start() for p in ps]\nassert sorted(q.get(timeout=30) for _ in ps) == [0, 1, 4]\n"
                           "[p.join() for p in ps]\nassert [p.exitcode for p in ps] == [0] * 3\nprint('fine')" % method)

    def test_pools_locks_and_managers(self):
        self.works("import multiprocessing as mp\ndef cube(n): return n ** 3\ndef add(lock, value):\n    for _ in range(100):\n        with lock: value.value += 1\n"
                   "with mp.Pool(3) as pool: assert pool.map(cube, range(5)) == [0, 1, 8, 27, 64]\nlock, value = mp.Lock(), mp.Value('i', 0)\n"
                   "ps = [mp.Process(target=add, args=(lock, value)) for _ in range(3)]\n[p.start() for p in ps]\n[p.join() for p in ps]\nassert value.value == 300\n"
                   "with mp.Manager() as m:\n    d = m.dict(); d['a'] = 1; assert dict(d) == {'a': 1}\na, b = mp.Pipe(); a.send([1]); assert b.recv() == [1]\nprint('fine')")

    def test_shared_memory(self):
        self.works("from multiprocessing import Process, shared_memory\ndef fill(name):\n    s = shared_memory.SharedMemory(name=name); s.buf[0] = 7; s.close()\n"
                   "s = shared_memory.SharedMemory(create=True, size=1 << 20)\np = Process(target=fill, args=(s.name,)); p.start(); p.join()\nassert s.buf[0] == 7\ns.close(); s.unlink()\nprint('fine')")

    def test_threading(self):
        self.works("import threading, queue\nq, r = queue.Queue(), []\ndef work():\n    while (n := q.get()) is not None: r.append(n * 2)\nts = [threading.Thread(target=work) for _ in range(20)]\n[t.start() for t in ts]\n"
                   "for n in range(100): q.put(n)\nfor _ in ts: q.put(None)\n[t.join() for t in ts]\nassert sum(r) == 9900\n"
                   "b = threading.Barrier(2, timeout=10); t = threading.Thread(target=b.wait); t.start(); b.wait(); t.join()\nprint('fine')")

    def test_concurrent_futures(self):
        self.works("import concurrent.futures as cf, math\nfor kind in (cf.ThreadPoolExecutor, cf.ProcessPoolExecutor):\n    with kind(3) as pool: assert list(pool.map(math.factorial, range(6))) == [1, 1, 2, 6, 24, 120]\nprint('fine')")

    def test_asyncio_subprocess_and_loopback_server(self):
        self.works("import asyncio\nasync def child():\n    p = await asyncio.create_subprocess_exec('sh', '-c', 'read x; echo got $x; exit 3', stdin=-1, stdout=-1)\n    out, _ = await p.communicate(b'line\\n')\n"
                   "    return out, p.returncode\nasync def serve(reader, writer):\n    writer.write((await reader.readline()).upper()); await writer.drain(); writer.close()\nasync def main():\n"
                   "    assert await asyncio.wait_for(child(), 20) == (b'got line\\n', 3)\n    s = await asyncio.start_server(serve, '127.0.0.1', 0)\n    async with s:\n"
                   "        r, w = await asyncio.open_connection(*s.sockets[0].getsockname())\n        w.write(b'hello\\n'); assert await r.read() == b'HELLO\\n'; w.close()\n"
                   "    assert await asyncio.to_thread(sum, [1, 2]) == 3\nasyncio.run(main())\nprint('fine')")

    def test_subprocess(self):
        self.works("import subprocess, sys\nassert subprocess.run(['tr', 'a-z', 'A-Z'], input=b'abc', capture_output=True).stdout == b'ABC'\nassert subprocess.check_output('echo $((6 * 7)) | cat', shell=True) == b'42\\n'\n"
                   "try: subprocess.run(['sleep', '30'], timeout=0.2)\nexcept subprocess.TimeoutExpired: pass\nassert subprocess.run([sys.executable, '-c', 'import numpy; raise SystemExit(4)']).returncode == 4\n"
                   "p = subprocess.Popen(['cat'], stdin=-1, stdout=-1, start_new_session=True, cwd='/tmp'); assert p.communicate(b'x')[0] == b'x'\nprint('fine')")

    def test_socketserver_on_loopback(self):
        self.works("import http.server, socketserver, threading, urllib.request\nclass Quiet(http.server.SimpleHTTPRequestHandler):\n    def log_message(self, *a): pass\nopen('page', 'w').write('content')\n"
                   "for family, host in ((2, '127.0.0.1'), (10, '[::1]')):\n    class Server(socketserver.ThreadingTCPServer): address_family = family; daemon_threads = True\n"
                   "    with Server((host.strip('[]'), 0), Quiet) as s:\n        threading.Thread(target=s.serve_forever, daemon=True).start()\n"
                   "        assert urllib.request.urlopen('http://%s:%d/page' % (host, s.server_address[1]), timeout=10).read() == b'content'\n        s.shutdown()\nprint('fine')")

    def test_pseudo_terminals(self):
        self.works("import os, pty, subprocess\nm, s = pty.openpty(); assert os.isatty(s)\np = subprocess.Popen(['sh', '-c', 'test -t 0 && tty && stty size'], stdin=s, stdout=s, stderr=s, start_new_session=True); os.close(s); p.wait()\n"
                   "assert b'/dev/pts/' in os.read(m, 1000)\npid, fd = pty.fork()\nif pid == 0: os.execvp('sh', ['sh', '-c', 'echo child'])\nassert b'child' in os.read(fd, 100); os.waitpid(pid, 0)\nprint('fine')")


both_modes(Processes, globals())

# SPDX-License-Identifier: Apache-2.0
"""Top-level await and the one event loop of a session."""
import unittest

from harness import DriverTest


class Async(DriverTest):
    def test_await_run_and_tasks_over_cells(self):
        self.ok("import asyncio\nawait asyncio.sleep(0.01)\nprint('a')", "a\n")
        self.ok("async def f(): return 3\nprint(asyncio.run(f()))", "3\n")
        self.ok("t = asyncio.ensure_future(asyncio.sleep(0.05, 'done'))")
        self.ok("print(await t)", "done\n")
        result = self.fails("await asyncio.sleep(60)", "KeyboardInterrupt", 'File "<cell 5>", line 1', interrupt_after=0.2)
        self.assertLess(result.seconds, 2)
        self.assertNotIn("base_events", result.err)
        self.ok("print('b'); print(await asyncio.sleep(0, 'c'))", "b\nc\n")

    def test_ensure_future_in_the_first_cell(self):
        self.ok("from asyncio import ensure_future, sleep\nt = ensure_future(sleep(0.01, 'done'))")
        self.ok("print(await t)", "done\n")

    def test_get_event_loop_is_the_sessions(self):
        self.ok("import asyncio\nloop = asyncio.get_event_loop()\nprint(loop.run_until_complete(asyncio.sleep(0, 1)))", "1\n")
        self.ok("print(asyncio.get_running_loop() is loop, await asyncio.sleep(0, 2))", "True 2\n")
        self.ok("asyncio.run(asyncio.sleep(0))")
        self.ok("print(asyncio.get_event_loop() is loop)", "True\n")

    def test_async_with_and_for(self):
        self.ok("class C:\n    async def __aenter__(self): return 1\n    async def __aexit__(self, *a): pass\n"
                "async def g():\n    yield 1\n    yield 2\n"
                "async with C() as c: print(c)\nasync for i in g(): print(i)\nprint([i async for i in g()])", "1\n1\n2\n[1, 2]\n")

    def test_variables_and_errors(self):
        self.ok("import asyncio\nx = await asyncio.sleep(0, 5)\nimport __main__")
        self.ok("print(x, __main__.x)", "5 5\n")
        result = self.fails("async def f():\n    await asyncio.sleep(0)\n    1/0\nawait f()", 'line 4, in <module>', "line 3, in f", "ZeroDivisionError")
        self.assertNotIn("asyncio", result.err.replace("await asyncio.sleep", ""))
        self.assertEqual(result.err.count("Traceback"), 1)
        self.fails("import sys\nawait asyncio.sleep(0)\nsys.exit(4)", code=4)
        self.ok("print(await asyncio.sleep(0, 'on'))", "on\n")

    def test_exception_group_of_a_task_group_or_gather(self):
        self.fails("import asyncio\nasync def f(): 1/0\nawait asyncio.gather(f(), f())", "ZeroDivisionError")
        self.ok("print(await asyncio.sleep(0, 'on'))", "on\n")

    def test_interrupt_of_a_busy_coroutine(self):
        self.ok("import asyncio\nasync def busy():\n    while True: pass")
        self.fails("await busy()", "KeyboardInterrupt", "in busy", interrupt_after=0.3)
        self.fails("t = asyncio.ensure_future(busy())\nawait asyncio.sleep(60)", "KeyboardInterrupt", interrupt_after=0.3)
        self.ok("print(await asyncio.sleep(0, 'on'))", "on\n")

    def test_interrupt_leaves_other_tasks_alone(self):
        self.ok("import asyncio\nn = 0\nasync def count():\n    global n\n    for n in range(1, 41): await asyncio.sleep(0.02)\nt = asyncio.ensure_future(count())")
        self.fails("await asyncio.sleep(60)", "KeyboardInterrupt", interrupt_after=0.2)
        self.ok("print(n > 2, n < 40); await t; print(n)", "True True\n40\n")

    def test_interrupt_of_asyncio_run(self):
        self.ok("import asyncio\nasync def main():\n    try: await asyncio.sleep(60)\n    finally: print('cleaned')")
        result = self.fails("asyncio.run(main())", "KeyboardInterrupt", interrupt_after=0.3)
        self.assertEqual(result.out, "cleaned\n")
        self.ok("print(await asyncio.sleep(0, 'on'))", "on\n")

    def test_a_closed_loop_or_its_descriptors_gone(self):
        self.ok("import asyncio\nawait asyncio.sleep(0); asyncio.get_running_loop()")
        self.ok("asyncio.get_event_loop().close()")
        self.ok("print(await asyncio.sleep(0.01, 'new'))", "new\n")
        self.ok("import os; os.closerange(3, 256)")
        self.ok("print(await asyncio.sleep(0.01, 'newer'))", "newer\n")

    def test_a_destroyed_asyncio_does_not_stop_plain_cells(self):
        self.ok("import asyncio, sys\nasyncio.set_event_loop = None\nsys.modules['asyncio'] = None")
        self.works()


if __name__ == "__main__":
    unittest.main()

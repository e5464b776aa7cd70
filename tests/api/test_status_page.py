# SPDX-License-Identifier: Apache-2.0
"""GET / for a browser: what it shows is so, under the strictest policy, and fits a phone."""

import re
import subprocess
import unittest

from browser import Browser, program
from harness import BINARY, ServerTestCase, plain_environment


class TheStatusPage(ServerTestCase):
    settings = {"SANDBOX_MAX_SESSIONS": "77", "SANDBOX_POOL_SIZE": "2", "SANDBOX_RUNNER_MEMORY_MB": "256"}

    def page(self):
        response = self.sandbox.request("GET", "/")
        self.assertEqual((response.status, response.headers["content-type"]), (200, "text/html; charset=utf-8"))
        return bytes(response.body).decode()

    def tile(self, name):
        return int(re.search("<dt>%s</dt><dd>(\\d+)</dd>" % name, self.page())[1])

    def test_counts_sessions_and_jails(self):
        before = self.tile("sessions")
        self.new_session()
        self.assertEqual((self.tile("sessions"), self.tile("at most")), (before + 1, 77))
        self.assertGreaterEqual(self.tile("jails in all"), before + 1)

    def test_shows_sessions_but_no_whole_id(self):
        session = self.session
        session.code("1")
        page = self.page()
        self.assertRegex(page, "<code>%s…</code></th><td>idle</td><td class=\"number\">1</td>" % session.id[:12])
        self.assertNotIn(session.id[:13], page)

    def test_counts_the_limits_that_calls_meet(self):
        def hits():
            return int(re.search("wall_clock</th><td[^>]*>(\\d+)", self.page())[1])

        before = hits()
        self.session.code("while True: pass", 1)
        self.assertEqual(hits(), before + 1)

    def test_shows_the_rows_of_check_and_the_versions(self):
        check = subprocess.run([BINARY, "check"], env=plain_environment({}), stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout
        rows = [[line[:18].strip(), line[19:27].strip()] for line in check.splitlines()[:-1]]
        rows.remove(["trial", "ok"])  # of `check` alone: a server that serves has made jails
        self.assertIn(["seccomp", "ok"], rows)
        shown = re.findall("<th scope=\"row\">([a-z0-9 ]+)</th><td class=\"(?:good|warn|bad)\">(\\w+)</td>", self.page())
        self.assertEqual([list(row) for row in shown], rows)
        version = subprocess.run([BINARY, "version"], stdin=subprocess.DEVNULL, capture_output=True, text=True).stdout.split()[1]
        self.assertIn('rookery</th><td class="">%s</td>' % version, self.page())

    def test_has_no_script_and_a_policy_that_allows_none(self):
        policy = self.sandbox.request("GET", "/").headers["content-security-policy"]
        self.assertRegex(policy, "^default-src 'none'; style-src 'self'; ")
        self.assertNotRegex(policy, "script|unsafe|connect|\\*")
        page = self.page()
        self.assertNotRegex(page, "<script|style=|https?:|{{")
        self.assertIn('http-equiv="refresh"', page)

    @unittest.skipUnless(program(), "no Chromium here: install chromium-headless-shell")
    def test_a_browser_takes_it_and_it_fits_a_phone_by_day_and_night(self):
        self.new_session()
        colours = set()
        with Browser() as browser:
            url = "http://127.0.0.1:%d/" % self.server.port
            for width, dark in ((360, False), (360, True), (1200, False)):
                self.assertEqual(browser.open(url), 200)
                browser.screenshot(self.server.scratch / "status.png", width, 800, dark)
                with self.subTest(width=width, dark=dark):
                    self.assertLessEqual(browser.evaluate("document.documentElement.scrollWidth"), width)
                    self.assertEqual(browser.complaints(), [])
                colours.add(browser.evaluate("getComputedStyle(document.body).backgroundColor"))
            asked = {event["request"]["url"] for event in browser.of_kind("Network.requestWillBeSent")}
            self.assertEqual(asked, {url, url + "pages/style.css"})
            browser.wait_for("performance.now() < 3000 && !window.seen", "the page itself")
            browser.evaluate("window.seen = true")
            browser.wait_for("!window.seen", "the page reads itself again")
        self.assertEqual(len(colours), 2, "dark mode looks like light mode")

# SPDX-License-Identifier: Apache-2.0
"""GET /docs in a real browser: all from this server, under a strict policy, and its forms work."""

import json
import re
import unittest

from browser import Browser, program
from harness import ServerTestCase

TOKEN = "token-of-a-browser-71c0"


class PageTestCase(ServerTestCase):
    def setUp(self):
        self.url = "http://127.0.0.1:%d" % self.server.port
        self.browser = self.enterContext(Browser())

    def wait_for_operations(self):
        self.browser.wait_for("!!document.querySelector('#createSession')", "the list of operations")

    def send(self, operation, **fields):
        """Fills in an operation's form and sends it. Gives {status, text} as the page shows them."""
        self.browser.evaluate(
            "(() => { const form = document.querySelector('#%s form');"
            " for (const [name, value] of Object.entries(%s)) form.elements[name].value = value;"
            " document.querySelector('#%s .answer h3').textContent = ''; form.requestSubmit(); })()" % (operation, json.dumps(fields), operation))
        self.browser.wait_for("document.querySelector('#%s .answer h3').textContent" % operation, "the answer of " + operation)
        return self.browser.evaluate("(({children}) => ({status: parseInt(children[0].textContent), text: children[1].textContent}))"
                                     "(document.querySelector('#%s .answer'))" % operation)

    def stdout_of(self, answer):
        self.assertEqual(answer["status"], 200, answer)
        return json.loads(answer["text"])["result_block"]["content"]["stdout"]


@unittest.skipUnless(program(), "no Chromium here: install chromium-headless-shell")
class TheDocsPage(PageTestCase):
    def setUp(self):
        super().setUp()
        self.assertEqual(self.browser.open(self.url + "/docs"), 200)
        self.wait_for_operations()

    def test_shows_every_operation(self):
        document = self.sandbox.request("GET", "/openapi.json").json()
        wanted = {operation["operationId"] for item in document["paths"].values() for method, operation in item.items() if method != "parameters"}
        shown = self.browser.evaluate("[...document.querySelectorAll('.operation')].map((operation) => operation.id)")
        self.assertEqual(set(shown), wanted)

    def test_a_session_a_call_and_a_file(self):
        created = self.send("createSession")
        self.assertEqual(created["status"], 201, created)
        session = json.loads(created["text"])["session_id"]
        self.assertEqual(self.send("getSession")["status"], 200)  # the id was filled in

        call = {"tool": "code_execution", "input": {"code": "open('made.csv', 'w').write('a,b\\n1,2\\n')\nprint(6 * 7)"}}
        self.assertEqual(self.stdout_of(self.send("execute", body=json.dumps(call))), "42")
        made = self.send("getFile", path="made.csv")
        self.assertEqual((made["status"], made["text"]), (200, "a,b\n1,2\n"))
        link = self.browser.evaluate("(({hidden, href, download}) => ({hidden, href, download}))(document.querySelector('#getFile .answer a'))")
        self.assertEqual((link["hidden"], link["download"]), (False, "made.csv"))
        self.assertRegex(link["href"], "^blob:")

        own = self.server.scratch / "own.txt"
        own.write_text("from the page <b>\n")
        self.browser.choose_file("#putFile input[name=file]", own)
        self.assertEqual(self.send("putFile", path="in/own.txt")["status"], 201)
        call = {"tool": "bash_code_execution", "input": {"command": "cat in/own.txt"}}
        self.assertEqual(self.stdout_of(self.send("execute", body=json.dumps(call))), "from the page <b>\n")

        self.assertEqual(self.send("deleteSession")["status"], 204)
        self.assertEqual(self.sandbox.request("GET", "/sessions/" + session).status, 404)
        self.assertEqual([text for text in self.browser.complaints() if "404" not in text], [])

    def test_everything_comes_from_this_server(self):
        asked = {event["request"]["url"] for event in self.browser.of_kind("Network.requestWillBeSent")}
        self.assertEqual(asked, {self.url + path for path in ("/docs", "/pages/style.css", "/pages/docs.js", "/openapi.json")})
        self.assertEqual(self.browser.complaints(), [])
        self.assertNotIn("rgba(0, 0, 0, 0)", self.browser.evaluate("getComputedStyle(document.body).backgroundColor"), "style.css is not in force")

    def test_the_policy_stops_what_does_not_belong(self):
        policy = self.sandbox.request("GET", "/docs").headers["content-security-policy"]
        self.assertIn("default-src 'none'", policy)
        self.assertNotRegex(policy, r"unsafe|\*|data:|https?:")
        for inner in ("import('data:text/javascript,1')", "eval('1')", "fetch('http://127.0.0.1:1/')",
                      "document.body.setAttribute('onclick', 'x = 1'), document.body.click(), x"):
            with self.subTest(inner):
                self.assertEqual(self.browser.evaluate("(async () => { try { await (%s) } catch (error) { return 'refused' } })()" % inner), "refused")
        self.assertEqual(self.browser.evaluate("[...document.querySelectorAll('[style], [onclick], script:not([src])')].length"), 0)

    def test_a_file_of_a_session_cannot_be_a_script_of_the_page(self):
        for name in ("x.js", "x.txt", "x", "x.json", "x.csv"):
            self.assertEqual(self.session.put(b"window.taken = 1", name).status, 201)
            source = "%s/files?path=%s" % (self.session.target, name)
            self.browser.evaluate("new Promise((done) => { const s = document.createElement('script'); s.onload = s.onerror = done;"
                                  " try { s.src = trustedTypes.createPolicy('p' + Math.random(), {createScriptURL: (u) => u}).createScriptURL(%s) }"
                                  " catch (error) { done() } document.head.append(s) })" % json.dumps(source))
        self.assertIsNone(self.browser.evaluate("window.taken"))

    def test_the_page_itself_names_nothing_outside(self):
        for name in ("docs", "pages/docs.js", "pages/style.css"):
            body = bytes(self.sandbox.request("GET", "/" + name).body).decode()
            self.assertEqual(re.findall(r"(?:https?:)?//[\w.-]+\.\w+", re.sub(r"^//.*$", "", body, flags=re.M)), [], name)


@unittest.skipUnless(program(), "no Chromium here: install chromium-headless-shell")
class BehindAToken(PageTestCase):
    """The browser asks its user for a password once; the page asks for the token that its requests bring."""

    settings = {"SANDBOX_AUTH_TOKEN": TOKEN}

    def asked(self):
        return [(event["authChallenge"]["scheme"], event["authChallenge"]["realm"]) for event in self.browser.of_kind("Fetch.authRequired")]

    def test_the_pages_open_with_a_password_and_requests_need_the_token(self):
        self.browser.answer_logins(TOKEN)
        self.assertEqual(self.browser.open(self.url + "/"), 200)
        self.assertEqual(self.asked(), [("basic", "rookery")])
        self.assertEqual(self.browser.complaints(), [])
        self.assertNotEqual(self.browser.evaluate("getComputedStyle(document.body).backgroundColor"), "rgba(0, 0, 0, 0)", "style.css is not in force")
        self.assertEqual(self.browser.open(self.url + "/docs"), 200)
        self.browser.wait_for("!document.querySelector('#problem').hidden", "word that a token is needed")
        self.assertIn("token", self.browser.evaluate("document.querySelector('#problem').textContent"))
        self.assertEqual(self.browser.evaluate("document.querySelectorAll('.operation').length"), 0)

        self.browser.evaluate("(() => { document.querySelector('#token').value = %s; document.querySelector('#access').requestSubmit(); })()" % json.dumps(TOKEN))
        self.wait_for_operations()
        self.assertEqual(self.send("createSession")["status"], 201)
        call = {"tool": "code_execution", "input": {"code": "print(6 * 7)"}}
        self.assertEqual(self.stdout_of(self.send("execute", body=json.dumps(call))), "42")
        self.assertEqual(self.send("deleteSession")["status"], 204)
        self.assertEqual(self.browser.evaluate("[...Object.keys(localStorage), ...Object.keys(sessionStorage), document.cookie].join()"), "")

        # What the browser remembers opens no route of the API, and makes it ask nobody.
        for path in ("/sessions", "/openapi.json", "/metrics"):
            status = self.browser.evaluate("fetch(%s, {credentials: 'include', method: '%s'}).then((answer) => answer.status)"
                                           % (json.dumps(path), "POST" if path == "/sessions" else "GET"))
            self.assertEqual(status, 401, path)
        self.assertEqual(self.asked(), [])

        self.browser.evaluate("document.querySelector('#source').click()")
        self.browser.wait_for("location.protocol === 'blob:' && document.body.textContent.includes('\"openapi\"')", "openapi.json by its link")

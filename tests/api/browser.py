# SPDX-License-Identifier: Apache-2.0
"""Debian's headless Chromium, driven over its debugging pipe: JSON messages that end with NUL, descriptors 3 and 4.

The protocol: https://chromedevtools.github.io/devtools-protocol/
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium-headless-shell", "chromium")
SECONDS = 60


def program():
    return next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One tab. As a context manager it ends with all its processes."""

    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="rookery-browser-")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()
        command = [program(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe",
                   "--user-data-dir=" + self.directory, "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", 'exec "$@" 3<&%d 4>&%d' % (to_browser, from_browser), "bash", *command],
            pass_fds=(to_browser, from_browser), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.last_id, self.tab, self.events, self.password = b"", 0, None, [], None
        target = self.command("Target.createTarget", url="about:blank")["targetId"]
        self.tab = self.command("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "DOM"):
            self.command(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.directory, ignore_errors=True)

    def receive(self):
        while b"\0" not in self.buffer:
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise RuntimeError("the browser ended with %d" % self.process.wait())
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def send(self, method, **parameters):
        """Gives the id that the answer will have."""
        self.last_id += 1
        message = {"id": self.last_id, "method": method, "params": parameters}
        if self.tab:
            message["sessionId"] = self.tab
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        return self.last_id

    def command(self, method, **parameters):
        """Gives the command's result; events that come meanwhile are kept in `events`."""
        wanted = self.send(method, **parameters)
        while True:
            answer = self.receive()
            if answer.get("id") == wanted:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)
            if answer.get("method") == "Fetch.requestPaused":
                self.send("Fetch.continueRequest", requestId=answer["params"]["requestId"])
            elif answer.get("method") == "Fetch.authRequired":
                self.send("Fetch.continueWithAuth", requestId=answer["params"]["requestId"],
                          authChallengeResponse={"response": "ProvideCredentials", "username": "", "password": self.password})

    def answer_logins(self, password):
        """Does from now on what a user would when the browser asks for a name and a password."""
        self.password = password
        self.command("Fetch.enable", handleAuthRequests=True)

    def of_kind(self, *methods):
        return [event["params"] for event in self.events if event.get("method") in methods]

    def evaluate(self, expression):
        """The value of a JavaScript expression, of a promise when it settles."""
        result = self.command("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True, allowUnsafeEvalBlockedByCSP=False)
        if "exceptionDetails" in result:
            raise AssertionError("%s: %s" % (expression, result["exceptionDetails"]))
        return result["result"].get("value")

    def wait_for(self, expression, what):
        deadline = time.monotonic() + SECONDS
        while not (value := self.evaluate(expression)):
            if time.monotonic() > deadline:
                raise AssertionError("not within %d s: %s" % (SECONDS, what))
            time.sleep(0.1)
        return value

    def open(self, url):
        """Gives the status of the page's own response."""
        self.events.clear()
        self.command("Page.navigate", url=url)
        self.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'", "loading " + url)
        return next(event["response"]["status"] for event in self.of_kind("Network.responseReceived") if event["type"] == "Document")

    def choose_file(self, selector, path):
        root = self.command("DOM.getDocument")["root"]["nodeId"]
        node = self.command("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.command("DOM.setFileInputFiles", nodeId=node, files=[str(path)])

    def screenshot(self, path, width, height, dark=False):
        self.command("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600)
        self.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])
        image = self.command("Page.captureScreenshot", format="png", captureBeyondViewport=True)
        with open(path, "wb") as out:
            out.write(base64.b64decode(image["data"]))

    def complaints(self):
        """What a developer would see in red: errors, refused loads, violations of the page's policy."""
        return ([event["entry"]["text"] for event in self.of_kind("Log.entryAdded") if event["entry"]["level"] == "error"] +
                [event["exceptionDetails"]["text"] for event in self.of_kind("Runtime.exceptionThrown")])

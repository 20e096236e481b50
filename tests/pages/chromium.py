# SPDX-License-Identifier: Apache-2.0
"""Chromium without a window, driven over its debugging pipe: opens a page, tells its complaints, evaluates, clicks."""

from __future__ import annotations

import base64
import fcntl
import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path


def find() -> str | None:
    return next((found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None)


class Chromium:
    """One page. `complaints` has every exception, console error and failed request since it was opened."""

    def __init__(self, page: Path, width: int = 1400, height: int = 900):
        self.complaints: list[str] = []
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)  # Chromium may still write
        (its_in, self.out), (self.into, its_out) = os.pipe(), os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--no-first-run", "--remote-debugging-pipe"]
        high = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (its_in, its_out)]  # Chromium wants 3 and 4, which may be ours
        script = f'exec "$@" 3<&{high[0]} 4>&{high[1]}'
        command = [find(), *flags, f"--user-data-dir={self.profile.name}", f"--window-size={width},{height}", "about:blank"]
        self.process = subprocess.Popen(
            ["bash", "-c", script, "bash", *command], pass_fds=high, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        for end in (its_in, its_out, *high):
            os.close(end)
        self.buffer, self.count, self.session = b"", 0, None
        target = next(t for t in self.ask("Target.getTargets")["targetInfos"] if t["type"] == "page")
        self.session = self.ask("Target.attachToTarget", targetId=target["targetId"], flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.ask(f"{domain}.enable")
        self.ask("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.loaded = False
        self.ask("Page.navigate", url=page.resolve().as_uri())
        while not self.loaded:
            self.note(self.message())
        self.settle()

    def __enter__(self) -> Chromium:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.out)
        os.close(self.into)
        self.profile.cleanup()

    def message(self) -> dict:
        while b"\0" not in self.buffer:
            more = os.read(self.into, 1 << 20)
            if not more:
                raise EOFError("Chromium ended")
            self.buffer += more
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def note(self, message: dict) -> None:
        method, report = message.get("method"), message.get("params", {})
        self.loaded = getattr(self, "loaded", False) or method == "Page.loadEventFired"
        if method == "Runtime.exceptionThrown":
            details = report["exceptionDetails"]
            self.complaints.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and report["type"] in ("error", "warning", "assert"):
            self.complaints.append(json.dumps(report["args"]))
        elif method == "Log.entryAdded" and report["entry"]["level"] == "error":
            self.complaints.append(report["entry"]["text"])
        elif method == "Network.requestWillBeSent" and not report["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append(f"asked for {report['request']['url']}")

    def ask(self, method: str, **parameters: object) -> dict:
        self.count += 1
        asked = {"id": self.count, "method": method, "params": parameters} | ({"sessionId": self.session} if self.session else {})
        os.write(self.out, json.dumps(asked).encode() + b"\0")
        while True:
            message = self.message()
            if message.get("id") == self.count:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                return message["result"]
            self.note(message)

    def evaluate(self, expression: str) -> object:
        answer = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", "an exception"))
        return answer["result"].get("value")

    def settle(self) -> None:
        """Two frames: whatever was asked to be drawn is."""
        self.evaluate("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")

    def click(self, x: float, y: float) -> None:
        for kind in ("mousePressed", "mouseReleased"):
            self.ask("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.settle()

    def drag(self, x: float, y: float, dx: float, dy: float) -> None:
        self.ask("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", clickCount=1)
        for k in (1, 2, 3, 4):
            self.ask("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx * k / 4, y=y + dy * k / 4, button="left", buttons=1)
        self.ask("Input.dispatchMouseEvent", type="mouseReleased", x=x + dx, y=y + dy, button="left", clickCount=1)
        self.settle()

    def wheel(self, x: float, y: float, delta: float) -> None:
        self.ask("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=delta)
        self.settle()

    def type(self, text: str) -> None:
        for letter in text:
            self.ask("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.ask("Input.dispatchKeyEvent", type="keyUp", key=letter)
        self.settle()

    def press(self, key: str) -> None:
        self.ask("Input.dispatchKeyEvent", type="rawKeyDown", key=key, code=key)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key)
        self.settle()

    def picture(self, path: Path) -> None:
        path.write_bytes(base64.b64decode(self.ask("Page.captureScreenshot", format="png")["data"]))

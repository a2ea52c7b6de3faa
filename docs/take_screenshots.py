"""Take the pictures of every page that the docs show, from the dashboard of the project at hand.

    bluffline run && python docs/take_screenshots.py SWEEP

Serves the project of the working directory (the bundled corpus where there is none) on a free port, opens each page
in Chromium, and writes `docs/pages/<page>-<light|dark>.png`.
"""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

PAGES = {
    "overview": "/",
    "strategies": "/sweeps/{sweep}",
    "win-loss": "/sweeps/{sweep}/pairs",
    "threshold": "/sweeps/{sweep}/threshold?t=0.525",
    "queries": "/sweeps/{sweep}/queries?t=0.525",
    "query": "/sweeps/{sweep}/queries/n05-ticket?t=0.525",
    "compare": "/compare",
    "documents": "/documents",
    "document": "/documents/03-probability.md?strategy=A#char=18426,18630",
    "questions": "/questions",
    "ask": "/ask?q=what+is+the+capital+of+france",
    "decisions": "/decisions",
}
DARK = ("threshold", "win-loss")
SIZE = {"width": 1280, "height": 900}
FOLDER = Path(__file__).parent / "pages"
CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]


@contextmanager
def served() -> Iterator[str]:
    """The address of a dashboard that runs as long as it is needed."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "experiments.cli", "serve", "--port", str(port)], stdout=subprocess.DEVNULL
    )
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/patterns", timeout=5)
                break
            except OSError:
                time.sleep(0.2)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait()


def take(browser: Browser, address: str, page: str, scheme: str) -> None:
    """One picture of the first screen, once figures are drawn and an answer has come."""
    context = browser.new_context(viewport=SIZE, color_scheme=scheme)
    tab = context.new_page()
    tab.goto(address)
    tab.wait_for_load_state("networkidle")
    tab.wait_for_timeout(20_000 if page == "ask" else 1_500)
    tab.screenshot(path=FOLDER / f"{page}-{scheme}.png")
    context.close()


def main(sweep: str) -> None:
    """All of them, of one sweep by its id."""
    FOLDER.mkdir(exist_ok=True)
    with served() as root, sync_playwright() as play:
        browser = play.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        for page, path in PAGES.items():
            for scheme in ("light", "dark") if page in DARK else ("light",):
                take(browser, root + path.format(sweep=sweep), page, scheme)
        browser.close()


if __name__ == "__main__":
    main(*sys.argv[1:])

"""A real browser on a real server: every page the tests open is watched for console errors and outside requests."""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from browser_tools import NARROW, WIDE
from flask import Flask
from sqlalchemy import Engine
from waitress.server import create_server

from store.engine import open_store
from webapp.app import create_app

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
]


class Live(NamedTuple):
    """A server that runs while a test module does."""

    url: str
    engine: Engine
    app: Flask


class Watch:
    """What a page did that it should not: errors in the console, requests that leave the server."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.faults: list[str] = []
        self.expected: list[str] = []

    def on(self, page) -> None:
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.faults.append(f"script error: {error}"))
        page.on("request", self._request)

    def expect(self, words: str) -> None:
        """A console error that the test provokes."""
        self.expected.append(words)

    def _console(self, message) -> None:
        if message.type == "error" and not any(words in message.text for words in self.expected):
            self.faults.append(f"console: {message.text}")

    def _request(self, request) -> None:
        own = ("data:", "blob:", "about:", "chrome://", "chrome-extension://")  # the last two: its viewer of PDF
        if not request.url.startswith((self.origin, *own)):
            self.faults.append(f"request to {request.url}")


def chromium() -> str | None:
    """Where the browser is: CHROMIUM, or Debian's place."""
    named = os.environ.get("CHROMIUM", "/usr/bin/chromium")
    return named if Path(named).is_file() else shutil.which("chromium")


def serve_app(app: Flask) -> Iterator[str]:
    """Serve an application from a thread on a free port; the address is allowed in the moment it is known."""
    server = create_server(app, host="127.0.0.1", port=0, threads=4, ident=None)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.effective_port}"
    finally:
        server.close()
        server.task_dispatcher.shutdown()
        thread.join(timeout=5)


@pytest.fixture(scope="module")
def store_engine(tmp_path_factory) -> Iterator[Engine]:
    """An empty store. A module that needs sweeps overrides this fixture with one that fills it."""
    engine = open_store(f"sqlite:///{tmp_path_factory.mktemp('store') / 'bluffline.db'}")
    yield engine
    engine.dispose()


@pytest.fixture(scope="module")
def live(store_engine, tmp_path_factory) -> Iterator[Live]:
    """A dashboard over `store_engine`."""
    hosts = AnyPort()
    app = create_app(store_engine, root=tmp_path_factory.mktemp("project"), allowed_hosts=hosts)
    for url in serve_app(app):
        yield Live(url, store_engine, app)


class AnyPort(frozenset):
    """127.0.0.1 at whatever port the system gave."""

    def __new__(cls):
        return super().__new__(cls, (f"127.0.0.1:{port}" for port in range(1024, 65536)))


@pytest.fixture(scope="session")
def browser():
    """Chromium, or a skip that says why; in CI its absence is a failure."""
    executable = chromium()
    if executable is None:
        reason = "no Chromium: install Debian's `chromium` or set CHROMIUM to its path"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=executable, args=ARGUMENTS)
        yield running
        running.close()


@pytest.fixture
def watch(live) -> Iterator[Watch]:
    """Fails the test for console errors and outside requests of any page it opened."""
    watching = Watch(live.url)
    yield watching
    assert not watching.faults, "\n".join(watching.faults)


@pytest.fixture
def open_page(browser, live, watch) -> Iterator[Callable]:
    """Opens a path in a page of its own: `open_page("/patterns", scheme="dark", size=NARROW)`."""
    contexts = []

    def opened(path: str, *, scheme: str = "light", size: dict = WIDE, scripts: bool = True, status: int = 200):
        context = browser.new_context(
            viewport=size, color_scheme=scheme, java_script_enabled=scripts, reduced_motion="reduce", base_url=live.url
        )
        context.set_default_timeout(10_000)
        contexts.append(context)
        page = context.new_page()
        watch.on(page)
        if status >= 400:
            watch.expect("the server responded with a status of")
        response = page.goto(path)
        assert response is not None
        assert response.status == status, f"{path} answered {response.status}"
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture(params=["light", "dark"])
def scheme(request) -> str:
    """Both colour schemes, one after the other."""
    return request.param


@pytest.fixture(params=[WIDE, NARROW], ids=["1280", "390"])
def size(request) -> dict[str, int]:
    """A desk and a telephone."""
    return request.param

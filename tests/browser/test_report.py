"""The report opens from disk, draws its figures and prints, without a server."""

from __future__ import annotations

import pytest
from browser_tools import assert_accessible
from click.testing import CliRunner
from worlds import MODEL, STRATEGIES, THRESHOLDS, filled

from store.engine import open_store
from webapp.exporting import export

pytestmark = pytest.mark.browser
SETTINGS = {"k": [1, 4], "alpha": 0.05, "seed": 7, "thresholds": list(THRESHOLDS), "models": [MODEL],
            "retrievers": ["dense", "bm25", "hybrid"],
            "strategies": {one.name: one.spec for one in STRATEGIES}}  # fmt: skip


def test_a_report_works_from_disk_and_prints(browser, tmp_path):
    (tmp_path / "bluffline.toml").write_text("", "utf-8")
    engine = open_store(f"sqlite:///{tmp_path / 'var' / 'bluffline.db'}")
    filled(engine, settings=SETTINGS)  # a dozen questions, each with a page
    engine.dispose()
    told = CliRunner().invoke(export, ["--project", str(tmp_path), "--to", str(tmp_path / "out"), "--as", "html"])
    assert told.exit_code == 0, told.output
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.goto((tmp_path / "out" / "report.html").as_uri())
    page.wait_for_selector(".drawn", timeout=30_000)
    assert len(asked) == 1
    assert said == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert_accessible(page)
    assert page.pdf(format="A4").startswith(b"%PDF-")
    page.close()

"""The application as a whole: light to start, local only, and its static files are what they say."""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from page_contracts import assert_context_is_what_the_templates_use, assert_fragment_is_part_of_its_page

from store.engine import open_store
from webapp.app import create_app, serve
from webapp.contexts.patterns import PatternsContext
from webapp.security import loopback_hosts

CHECKOUT = Path(__file__).resolve().parent.parent
VENDOR = CHECKOUT / "static" / "vendor"


@pytest.fixture
def app(tmp_path):
    engine = open_store(f"sqlite:///{tmp_path / 'bluffline.db'}")
    yield create_app(engine, root=tmp_path, allowed_hosts=loopback_hosts(80))
    engine.dispose()


def get(app, path, **headers):
    return app.test_client().get(path, headers=headers, buffered=True)


def test_the_web_process_starts_and_answers_without_torch_and_mlflow(tmp_path):
    program = """
import sys
from pathlib import Path
from store.engine import open_store
from webapp.app import create_app
root = Path(sys.argv[1])
app = create_app(open_store(f"sqlite:///{root / 'b.db'}"), root=root, allowed_hosts={"127.0.0.1"})
assert app.test_client().get("/patterns", base_url="http://127.0.0.1").status_code == 200
heavy = {"torch", "mlflow", "sentence_transformers", "transformers", "plotly.graph_objs", "pandas"} & set(sys.modules)
sys.exit(f"imported: {sorted(heavy)}" if heavy else 0)
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(tmp_path)], cwd=CHECKOUT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("host", ["0.0.0.0", "192.168.1.20", "example.org", "::", ""])
def test_serving_anything_but_a_loopback_address_is_refused(app, host):
    with pytest.raises(ValueError, match="access control is missing"):
        serve(app, host, 8321)


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.0.0.2"])
def test_loopback_addresses_are_served(app, host, monkeypatch):
    calls = []
    monkeypatch.setattr("waitress.serve", lambda *_, **settings: calls.append(settings))
    serve(app, host, 8321)
    assert calls[0]["port"] == 8321
    assert "[" not in calls[0]["host"]


def test_an_application_nobody_could_reach_is_refused(app, tmp_path):
    with pytest.raises(ValueError, match="allowed_hosts is empty"):
        create_app(app.extensions["bluffline"].engine, root=tmp_path, allowed_hosts=())


def test_two_dashboards_on_one_machine_do_not_share_a_session(app, tmp_path):
    other = create_app(app.extensions["bluffline"].engine, root=tmp_path / "other", allowed_hosts={"127.0.0.1"})
    assert other.config["SESSION_COOKIE_NAME"] != app.config["SESSION_COOKIE_NAME"]


def test_every_vendored_file_is_the_one_listed_with_its_licence():
    listed = json.loads((VENDOR / "vendor.json").read_text(encoding="utf-8"))
    for entry in listed:
        content = (VENDOR / entry["file"]).read_bytes()
        assert hashlib.sha256(content).hexdigest() == entry["sha256"], entry["file"]
        assert entry["version"] in entry["file"]
        assert entry["licence"]
        assert entry["source"]
        assert (VENDOR / entry["licence_file"]).read_text(encoding="utf-8").strip()
    known = {entry["file"] for entry in listed} | {entry["licence_file"] for entry in listed} | {"vendor.json"}
    assert {path.name for path in VENDOR.iterdir()} == known


def test_nothing_of_ours_refers_to_an_outside_address():
    ours = [*(CHECKOUT / "templates").rglob("*.html"), *(CHECKOUT / "static").glob("*.*")]
    assert ours
    for path in ours:
        text = path.read_text(encoding="utf-8").replace('xmlns="http://www.w3.org/2000/svg"', "")
        assert not re.search(r"(?:https?:)?//[a-z0-9-]+\.[a-z]", text, re.IGNORECASE), path


def test_templates_carry_no_inline_script_style_or_handler():
    for path in (CHECKOUT / "templates").rglob("*.html"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"\son[a-z]+=|\shx-on|\sstyle=|<style|javascript:|\"js:|\|\s*safe\b", text), path
        for script in re.findall(r"<script[^>]*>", text):
            assert "src=" in script or "application/json" in script, path


def test_versioned_files_may_be_kept_for_good_and_others_are_asked_for_again(app):
    page = get(app, "/patterns").get_data(as_text=True)
    for url in re.findall(r'(?:href|src|data-plotly)="(/static/[^"]+)"', page):
        answer = get(app, url)
        assert answer.status_code == 200
        assert "immutable" in answer.headers["Cache-Control"], url
    assert get(app, "/static/app.css").headers["Cache-Control"] == "no-cache"


def test_a_page_carries_no_more_and_no_less_than_its_context(app):
    assert_context_is_what_the_templates_use(app, "patterns", PatternsContext)


@pytest.mark.parametrize("fragment", ["strategies", "readout"])
def test_fragments_of_the_pattern_page_are_parts_of_it(app, fragment):
    assert_fragment_is_part_of_its_page(app.test_client(), "/patterns?sort=mrr&cut=0.5", fragment)


# ---- colours ---------------------------------------------------------------------------------------------------


def tokens():
    css = (CHECKOUT / "static" / "app.css").read_text(encoding="utf-8")
    return dict(re.findall(r"--([a-z-]+): light-dark\((#[0-9a-f]{6}), #[0-9a-f]{6}\)", css)), dict(
        re.findall(r"--([a-z-]+): light-dark\(#[0-9a-f]{6}, (#[0-9a-f]{6})\)", css)
    )


def contrast(one, other):
    """WCAG 2.2: (L1 + 0.05) / (L2 + 0.05) with relative luminances."""

    def luminance(colour):
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


TEXT = [
    *[(ink, ground) for ink in ("ink", "soft", "accent", "alarm") for ground in ("paper", "panel", "sunk")],
    *[("ink", f"{kind}-wash") for kind in ("right", "wrong", "refused", "bluff", "ok", "accent")],
    *[("soft", ground) for ground in ("refused-wash", "accent-wash")],
    ("accent", "accent-wash"),
    ("alarm", "bluff-wash"),
    ("accent-ink", "accent"),
    ("warn-ink", "warn-wash"),
    ("needle-ink", "needle"),
]
EVIDENCE = ("right", "wrong", "refused", "bluff", "ok", "edge")
GRAPHICS = [(kind, ground) for kind in EVIDENCE for ground in ("paper", "panel")]


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_and_graphics_stand_out_in_both_themes(theme):
    colours = tokens()[theme]
    weak = [(*pair, round(contrast(colours[pair[0]], colours[pair[1]]), 2)) for pair in TEXT
            if contrast(colours[pair[0]], colours[pair[1]]) < 4.5]  # fmt: skip
    weak += [(*pair, round(contrast(colours[pair[0]], colours[pair[1]]), 2)) for pair in GRAPHICS
             if contrast(colours[pair[0]], colours[pair[1]]) < 3]  # fmt: skip
    assert not weak


def test_contrast_is_computed_as_the_standard_says():
    assert contrast("#ffffff", "#000000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.01)

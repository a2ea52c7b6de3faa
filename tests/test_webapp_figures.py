"""Figures: what Plotly's own library says of every one a page draws, and how they are written into it."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

import numpy as np
import plotly.graph_objects as go
import pytest

from store.engine import open_store
from tests.web_worlds import reviewed
from webapp.app import create_app
from webapp.figures import figure_json

_FIGURE = re.compile(r'<script type="application/json" id="[\w-]+-data">(.*?)</script>', re.DOTALL)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory):
    root: Path = tmp_path_factory.mktemp("figures")
    engine = open_store(f"sqlite:///{root / 'store.db'}")
    reviewed(engine)
    reviewed(engine, seed=5)
    return create_app(engine, root=root, allowed_hosts={"localhost"}).test_client()


@pytest.mark.parametrize(
    ("address", "least"),
    [
        ("/", 1),
        ("/sweeps/1", 1),
        ("/sweeps/1/threshold", 3),
        ("/sweeps/1/pairs", 1),
        ("/compare?a=1&b=2", 1),
        ("/questions", 1),
        ("/patterns", 1),
    ],
)
def test_plotly_accepts_every_figure_of_a_page(client, address, least):
    found = _FIGURE.findall(client.get(address).get_data(as_text=True))
    assert len(found) >= least
    for written in found:
        # The browser resolves the style sheet's names; Plotly's library wants a colour.
        spec = json.loads(re.sub(r"var\(--[\w-]+\)", "#123456", html.unescape(written)))
        figure = go.Figure(spec)
        assert len(figure.data) == len(spec["data"])


def test_arrays_become_lists_and_what_is_no_number_becomes_null():
    spec = {"data": [{"x": np.array([1, 2]), "y": [float("nan"), 0.5]}]}
    assert json.loads(figure_json(spec)) == {"data": [{"x": [1, 2], "y": [None, 0.5]}]}


def test_other_peoples_text_cannot_end_the_element_a_figure_stands_in():
    hostile = "</script><script>alert('x')&"
    written = figure_json({"data": [{"text": [hostile]}]})
    assert "<" not in written
    assert json.loads(written)["data"][0]["text"] == [hostile]

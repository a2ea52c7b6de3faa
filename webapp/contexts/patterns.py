"""What the pattern page shows: samples of everything a page can be made of. Every number here is invented."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple

from webapp.exports import Column, Table
from webapp.sweeps import Strip
from webapp.whiskers import Estimate, Kind, Part

SORTS = ("r20", "-r20", "mrr", "-mrr")
THRESHOLDS = tuple(round(0.4 + 0.025 * step, 3) for step in range(17))
TOKENS = (
    "paper", "panel", "sunk", "ink", "soft", "line", "edge", "accent", "right", "wrong", "refused", "bluff", "ok"
)  # fmt: skip

COLUMNS = (
    Column("strategy", "Strategy", description="How documents are cut into chunks."),
    Column("retriever", "Retriever", description="What ranks the chunks."),
    Column("r4", "R@4", description="Share of answerable questions with a hit among the first 4 chunks."),
    Column("r20", "R@20", description="Share of answerable questions with a hit among the first 20 chunks."),
    Column("mrr", "MRR", description="Mean of 1 / rank of the first hit."),
    Column("destroyed", "Destroyed", description="Needles no chunk contains whole: nothing brings them back."),
    Column("chunks", "Chunks"),
)


class StrategyRow(NamedTuple):
    """A row of the sample table."""

    name: str
    what: str
    retriever: str
    r4: Estimate
    r20: Estimate
    mrr: float
    destroyed: int
    chunks: int
    seconds: float
    kind: Kind


class MatrixCell(NamedTuple):
    """A cell of the sample matrix."""

    kind: str
    words: str
    small: str


class MatrixRow(NamedTuple):
    """A row of the sample matrix."""

    name: str
    cells: tuple[MatrixCell, ...]


@dataclass(frozen=True, slots=True)
class PatternsContext:
    """Samples for `templates/patterns/page.html`."""

    strip: Strip
    sort: str
    columns: tuple[Column, ...]
    rows: tuple[StrategyRow, ...]
    best: float
    csv_url: str
    json_url: str
    md_url: str
    nothing: Estimate
    cut: float
    right: Estimate
    wrong: Estimate
    bluffs: Estimate
    outcomes: dict[str, Any]
    distances: dict[str, Any]
    dots: dict[str, Any]
    shares: tuple[Part, ...]
    matrix: tuple[MatrixRow, ...]
    tokens: tuple[str, ...]


def build(sort: str, cut: float, *, csv_url: str, json_url: str, md_url: str) -> PatternsContext:
    """Samples for the chosen sort order and threshold."""
    rows = sorted(_rows(), key=lambda row: row.r20.value or 0.0 if sort.endswith("r20") else row.mrr)
    if sort.startswith("-"):
        rows.reverse()
    right, wrong, _ = _answerable(cut)
    return PatternsContext(
        strip=_strip(csv_url, json_url),
        sort=sort,
        columns=COLUMNS,
        rows=tuple(rows),
        best=0.86,
        csv_url=csv_url,
        json_url=json_url,
        md_url=md_url,
        nothing=Estimate(None, None, None, 0),
        cut=cut,
        right=_estimate(right, 64),
        wrong=_estimate(wrong, 64),
        bluffs=_estimate(_bluffs(cut), 30),
        outcomes=_outcomes(),
        distances=_distances(),
        dots=_dots(),
        shares=(Part("right", 48, "right"), Part("wrong", 12, "wrong"), Part("refused", 4, "refused")),
        matrix=_matrix(),
        tokens=TOKENS,
    )


def sample_table() -> Table:
    """The sample table as data."""
    return Table(
        "patterns",
        COLUMNS,
        tuple(
            (row.name, row.retriever, row.r4.value, row.r20.value, row.mrr, row.destroyed, row.chunks)
            for row in _rows()
        ),
    )


def _estimate(hits: int, n: int) -> Estimate:
    """Wilson's 95 % interval, so that the samples look like the real thing."""
    z, share = 1.959964, hits / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
    return Estimate(share, max(0.0, centre - half), min(1.0, centre + half), n, hits)


def _rows() -> list[StrategyRow]:
    samples: tuple[tuple[str, str, str, int, int, float, int, int, float, Kind], ...] = (
        ("E", "boundaries + header", "hybrid", 36, 55, 0.447, 0, 940, 0.0152, "best"),
        ("E", "boundaries + header", "dense", 30, 53, 0.280, 0, 940, 0.0143, "plain"),
        ("F", "boundaries + header + overlap", "dense", 27, 49, 0.262, 0, 940, 0.0143, "plain"),
        ("E", "boundaries + header", "bm25", 28, 41, 0.330, 0, 940, 0.0011, "plain"),
        ("A", "blind", "dense", 19, 38, 0.190, 4, 702, 0.0139, "alarm"),
    )
    return [
        StrategyRow(name, what, retriever, _estimate(r4, 64), _estimate(r20, 64), mrr, dead, chunks, seconds, kind)
        for name, what, retriever, r4, r20, mrr, dead, chunks, seconds, kind in samples
    ]


def _answerable(cut: float) -> tuple[int, int, int]:
    answered = round(64 / (1 + math.exp(-(cut - 0.5) / 0.045)))
    right = round(answered * 0.8)
    return right, answered - right, 64 - answered


def _bluffs(cut: float) -> int:
    return round(30 / (1 + math.exp(-(cut - 0.66) / 0.05)))


def _outcomes() -> dict[str, Any]:
    right, wrong, refused = zip(*(_answerable(cut) for cut in THRESHOLDS), strict=True)
    bluffs = [_bluffs(cut) for cut in THRESHOLDS]

    def bars(name: str, counts: Any, kind: str, axis: str, shape: str = "") -> dict[str, Any]:
        marker: dict[str, Any] = {"color": f"var(--{kind})"}
        if shape:
            pattern = {"shape": shape, "size": 5, "solidity": 0.45, "fgcolor": f"var(--{kind})"}
            marker |= {"pattern": pattern | {"bgcolor": f"var(--{kind}-wash)"}}
        if kind in {"refused", "ok"}:  # what was not said is quiet
            marker = {"color": f"var(--{kind}-wash)", "line": {"color": f"var(--{kind})", "width": 1}}
        hover = "%{y} " + name + " at %{x}<extra></extra>"
        return {"type": "bar", "name": name, "x": THRESHOLDS, "y": list(counts), "yaxis": axis, "marker": marker,
                "hovertemplate": hover}  # fmt: skip

    return {
        "data": [
            bars("answered right", right, "right", "y2"),
            bars("answered wrong", wrong, "wrong", "y2", "/"),
            bars("refused", refused, "refused", "y2"),
            bars("bluffs", bluffs, "bluff", "y"),
            bars("rightly refused", [30 - count for count in bluffs], "ok", "y"),
        ],
        "layout": {
            "margin": {"l": 92},  # both figures under one line: the same left edge
            "xaxis": {"title": {"text": "threshold, cosine distance"}, "range": [0.385, 0.815], "showgrid": False},
            "yaxis": {"domain": [0, 0.44], "title": {"text": "of 30 unanswerable"}, "range": [0, 30.4]},
            "yaxis2": {"domain": [0.54, 1], "title": {"text": "of 64 answerable"}, "range": [0, 64.8], "anchor": "x"},
        },
    }


def _distances() -> dict[str, Any]:
    def dots(name: str, centre: float, spread: float, count: int, level: float, kind: str) -> dict[str, Any]:
        x = [round(centre + spread * math.tan(1.25 * (2 * (i + 0.5) / count - 1)) / 2.2, 3) for i in range(count)]
        y = [level + (i * 37 % 11 - 5) / 60 for i in range(count)]
        symbol = "circle" if kind == "right" else "diamond"
        return {"type": "scatter", "mode": "markers", "name": name, "x": x, "y": y,
                "marker": {"color": f"var(--{kind})", "size": 7, "symbol": symbol, "opacity": 0.8},
                "hovertemplate": name + " %{x}<extra></extra>"}  # fmt: skip

    ticks = {"tickvals": [0.3, 0.7], "ticktext": ["unanswerable", "answerable"], "range": [0, 1], "showgrid": False}
    return {
        "data": [dots("answerable", 0.53, 0.12, 64, 0.7, "right"), dots("unanswerable", 0.68, 0.1, 30, 0.3, "bluff")],
        "layout": {"margin": {"l": 92}, "xaxis": {"range": [0.385, 0.815]}, "yaxis": ticks},
    }


def _dots() -> dict[str, Any]:
    rows = _rows()[::-1]
    return {
        "data": [
            {
                "type": "scatter", "mode": "markers",
                "x": [row.r20.value for row in rows],
                "y": [f"{row.name}  {row.retriever}" for row in rows],
                "error_x": {
                    "type": "data", "symmetric": False, "color": "var(--edge)", "thickness": 2.4, "width": 0,
                    "array": [(row.r20.high or 0) - (row.r20.value or 0) for row in rows],
                    "arrayminus": [(row.r20.value or 0) - (row.r20.low or 0) for row in rows],
                },
                "marker": {"color": "var(--ink)", "size": 9},
                "hovertemplate": "%{y}: %{x:.2f}<extra></extra>",
            }
        ],
        "layout": {"xaxis": {"range": [0, 1], "title": {"text": "R@20"}}, "yaxis": {"showgrid": True}},
    }  # fmt: skip


def _matrix() -> tuple[MatrixRow, ...]:
    same = MatrixCell("same", "·", "")
    won = MatrixCell("won clear", "+18 −3", "p = 0.0015")
    lost = MatrixCell("lost clear", "+3 −18", "p = 0.0015")
    few, fewer = (MatrixCell("unresolved", words, "no p can resolve") for words in ("+3 −1", "+1 −3"))
    ahead, behind = MatrixCell("won", "+9 −4", "p = 0.267"), MatrixCell("lost", "+4 −9", "p = 0.267")
    return (
        MatrixRow("E", (same, ahead, won)),
        MatrixRow("F", (behind, same, few)),
        MatrixRow("A", (lost, fewer, same)),
    )


def _strip(csv_url: str, json_url: str) -> Strip:
    return Strip(
        sweep_id=41, state="finished", reason=None, commit="7c1e9ab5d2f04417", branch="main", dirty=True,
        corpus_hash="e41f0c77aa12", documents=13, answerable=64, unanswerable=30, over="over 32 needles",
        created_at=datetime.now(UTC) - timedelta(hours=2, minutes=10), mlflow_url=None,
        mlflow_run_id="5f2c0d1e", hit_rule="whole-needle-in-embedded-range/1", hit_words="",
        csv_url=csv_url, json_url=json_url,
    )  # fmt: skip

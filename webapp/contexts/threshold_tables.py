"""The tables of the threshold page as data."""

from __future__ import annotations

from collections.abc import Sequence

from experiments.deciding.costs import CostRow
from experiments.deciding.signals import Signal
from experiments.outcomes import Recorded
from experiments.reviewing.context_size import ContextSize
from webapp.contexts.threshold_reading import Bluff, Cells, SideRow
from webapp.exports import Cell, Column, Table
from webapp.whiskers import Estimate

SHARES = (
    ("right", "Answered right", "Answerable: answered, needle kept."),
    ("wrong", "Answered wrong", "Answerable: answered, needle not kept."),
    ("refused", "Refused", "Answerable: nothing kept."),
    (
        "could_answer",
        "Refused though answerable",
        "Of the answerable: refused, though no threshold would have kept the needle.",
    ),
    ("bluffs", "Bluffs", "Unanswerable: answered."),
    ("correctly_refused", "Correctly refused", "Unanswerable: nothing kept."),
    ("near", "Bluffs, near", "Unanswerable questions of the topic's neighbourhood: answered."),
    ("far", "Bluffs, far", "Unanswerable questions far from the topic: answered."),
)
GLOSSARY = tuple(Column(name, label, description=description) for name, label, description in SHARES)


def _share_columns() -> list[Column]:
    return [
        column
        for name, label, description in SHARES
        for column in (
            Column(name, label, description=description),
            Column(f"{name}_n", f"{label}, of"),
            Column(f"{name}_share", f"{label}, share"),
            Column(f"{name}_low", f"{label}, low", description="Wilson 95 %."),
            Column(f"{name}_high", f"{label}, high", description="Wilson 95 %."),
        )
    ]


def _share_cells(row: Cells) -> list[Cell]:
    return [cell for name, _, _ in SHARES for cell in _flat(getattr(row, name))]


def _flat(share: Estimate) -> tuple[Cell, ...]:
    return share.hits, share.n, share.value, share.low, share.high


def sweep(name: str, rows: Sequence[Cells]) -> Table:
    """Every threshold."""
    columns = (Column("threshold", "Threshold", description="Cosine distance; empty: no threshold."), *_share_columns())
    return Table(f"{name}-sweep", columns, tuple((row.threshold, *_share_cells(row)) for row in rows))


def sides(name: str, rows: Sequence[SideRow]) -> Table:
    """Thresholds on the questions they were picked on, and on others."""
    columns = (
        Column("picked", "Picked"),
        Column("threshold", "Threshold"),
        Column("side", "Side"),
        Column("questions", "Questions"),
        *_share_columns(),
    )
    return Table(
        f"{name}-sides",
        columns,
        tuple((row.picked, row.threshold, row.side, row.what, *_share_cells(row.cells)) for row in rows),
    )


def distances(name: str, outcomes: Sequence[Recorded]) -> Table:
    """Every question's distances."""
    columns = (
        Column("query", "Question"),
        Column("kind", "Kind"),
        Column("needle", "To its needle's chunk", description="Cosine distance, whatever its rank."),
        Column("nearest", "To the nearest chunk", description="Of those the gate looks at."),
        Column(
            "kept_under", "Needle kept above", description="Nearest of those the gate looks at that hold the needle."
        ),
        Column("gap", "Lead", description="Distance of the second returned chunk minus that of the first."),
    )
    return Table(
        f"{name}-distances",
        columns,
        tuple(
            (
                one.query_id,
                "answerable" if one.needle_id else one.stratum,
                one.chunk_distance,
                one.nearest,
                one.needle_distance,
                one.gap,
            )
            for one in outcomes
        ),
    )


def costs(name: str, rows: Sequence[CostRow]) -> Table:
    """Expected cost of every threshold."""
    columns = (
        Column("threshold", "Threshold"),
        Column("cost", "Cost", "per 1,000 questions"),
        Column("low", "low", description="Bootstrap by needle, 95 %."),
        Column("high", "high"),
        Column("excess", "Over the cheapest"),
        Column("excess_low", "over the cheapest, low", description="Paired, 95 %."),
        Column("excess_high", "over the cheapest, high"),
        Column("alike", "Cannot be told from the cheapest"),
    )
    cells = (
        (row.threshold, row.cost, row.low, row.high, row.excess, row.excess_low, row.excess_high, row.alike)
        for row in rows
    )
    return Table(f"{name}-costs", columns, tuple(cells))


def signals(name: str, found: Sequence[Signal]) -> Table:
    """The risk-coverage curve of each signal, point by point."""
    columns = (
        Column("signal", "Signal"),
        Column("least", "Least confidence answered", description="A distance enters with its sign turned."),
        Column("coverage", "Coverage"),
        Column("risk", "Selective risk"),
    )
    rows = (
        (signal.name, float(least), float(coverage), float(risk))
        for signal in found
        for least, coverage, risk in zip(*signal.curve, strict=True)
    )
    return Table(f"{name}-signals", columns, tuple(rows))


def bluffs(name: str, lines: Sequence[Bluff]) -> Table:
    """The bluffs at the line."""
    columns = (
        Column("query", "Id"),
        Column("question", "Question"),
        Column("stratum", "Stratum"),
        Column("distance", "Distance"),
        Column("place", "Matched"),
        Column("kind", "Kind"),
        Column("words", "How"),
    )
    rows = ((one.query_id, one.question, one.stratum, one.distance, one.place, one.kind, one.words) for one in lines)
    return Table(f"{name}-bluffs", columns, tuple(rows))


def context(name: str, rows: Sequence[ContextSize]) -> Table:
    """What a longer prompt buys and costs."""
    columns = (
        Column("chunks", "Chunks at most"),
        Column("kept", "Needle in the prompt"),
        Column("kept_n", "Needle in the prompt, of"),
        Column("kept_share", "Needle in the prompt, share"),
        Column("kept_low", "Needle in the prompt, low", description="Wilson 95 %."),
        Column("kept_high", "Needle in the prompt, high", description="Wilson 95 %."),
        Column("bluffs", "Bluffs"),
        Column("bluffs_n", "Bluffs, of"),
        Column("tokens", "Tokens in the prompt", description="Mean over the questions that are answered."),
        Column("tokens_low", "Tokens, low", description="Bootstrap by needle, 95 %."),
        Column("tokens_high", "Tokens, high", description="Bootstrap by needle, 95 %."),
        Column("tokens_n", "Tokens, over questions"),
    )
    cells = (
        (row.chunks, row.kept.hits, row.kept.n, row.kept.estimate, row.kept.low, row.kept.high, row.bluffs.hits,
         row.bluffs.n, row.tokens.mean, row.tokens.low, row.tokens.high, row.tokens.n)
        for row in rows
    )  # fmt: skip
    return Table(f"{name}-context", columns, tuple(cells))

"""Numbers beside the hits: token-level scores of needles, or nDCG and recall of document-level relevance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from experiments import measures
from experiments.measures import Measure
from experiments.provenance import document_level
from store.tables import MeasureRow, SweepRow
from webapp.contexts.strategy_table import Row
from webapp.exports import Column

_TOKENS = (
    "How much of the top k chunks is needle, and how much of the needles stands in them, by characters of the embedded "
    "range (header left out): what is returned twice counts twice, what is wanted once. They rank cuttings, as "
    "published tables do; half a needle scores half here, and is no answer."
)
_DOCUMENTS = (
    "Documents are ranked by their best chunk. nDCG@k and recall are those of trec_eval (gain is the grade, discount "
    "log2 of rank + 1): mean over all judged questions."
)


class SecondaryRow(NamedTuple):
    """A combination's numbers."""

    strategy: str
    what: str
    retriever: str
    model: str
    numbers: tuple[MeasureRow | None, ...]


class Secondary(NamedTuple):
    """A table below the main one."""

    title: str
    note: str
    columns: tuple[Column, ...]
    rows: tuple[SecondaryRow, ...]
    best: tuple[float | None, ...]  # of each column


def shown(sweep: SweepRow, k: int) -> list[Measure]:
    """The measures of the table: at the chosen depth, and those without one."""
    ks = sweep.settings["k"]
    if document_level(sweep.hit_rule):
        return measures.document_measures(ks)
    return [measures.token_precision(k), measures.token_recall(k), measures.token_iou(k), measures.PRECISION_OMEGA]


def build(sweep: SweepRow, rows: Sequence[tuple[Row, str, str]], k: int) -> Secondary | None:
    """The table; None where no combination has such numbers, as in sweeps recorded before there were any.

    Args:
        sweep: The sweep.
        rows: Its combinations as the page shows them, what each one's strategy is and its model's short name.
        k: Depth.
    """
    each = shown(sweep, k)
    lines = tuple(
        SecondaryRow(
            row.combination.strategy,
            what,
            row.combination.retriever,
            model,
            tuple(row.numbers.get(measure.name) for measure in each),
        )
        for row, what, model in rows
    )
    if not any(number and number.n for line in lines for number in line.numbers):
        return None
    judged = document_level(sweep.hit_rule)
    return Secondary(
        title="Documents found" if judged else f"Token-level scores at k = {k}",
        note=_DOCUMENTS if judged else _TOKENS,
        columns=tuple(Column(one.name, one.label, description=_sentence(one)) for one in each),
        rows=lines,
        best=tuple(max((n.value for n in column if n and n.value is not None), default=None)
                   for column in zip(*(line.numbers for line in lines), strict=True)),
    )  # fmt: skip


def _sentence(measure: Measure) -> str:
    return measure.description[:1].upper() + measure.description[1:] + "."

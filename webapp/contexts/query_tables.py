"""The queries table as a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from experiments.verdicts.queries import words_of
from store.reads import OutcomeRecord
from webapp.combinations import Shown
from webapp.exports import Column, Table
from webapp.question_list import Entry

COLUMNS = (
    Column("query_id", "Question"),
    Column("text", "Text"),
    Column("phrasing", "Phrasing"),
    Column("stratum", "Stratum", description="near or far, of unanswerable questions."),
    Column("needle_id", "Needle"),
    Column("combination", "Combination"),
    Column("threshold", "Threshold", description="At which the outcome is read; empty for none."),
    Column("rank", "Rank", description="Of the first chunk that contains the needle whole."),
    Column("fate", "Outcome", description="kept, or where the answer was lost; silent or bluff where there is none."),
    Column("words", "In words", description="The outcome, with whose window cut it off and what is not known of it."),
    Column("nearest", "Nearest", description="Smallest cosine distance among the chunks the gate looks at."),
    Column("needle_distance", "Needle's", description="The same among those of them that contain the needle."),
    Column("before", "Before", description="Outcome in the sweep compared with, where it turned."),
)


def table(
    sweep_id: int,
    shown: Shown,
    outcomes: Mapping[int, Sequence[OutcomeRecord]],
    chosen: Sequence[Entry],
    threshold: float | None,
) -> Table:
    """The shown questions as data: a row for each under each combination."""
    recorded = {(head.id, one.query_id): one for head in shown.heads for one in outcomes.get(head.id, ())}
    rows = []
    for entry in chosen:
        query = entry.query
        for head in shown.heads:
            one, turned = entry.fates.get(head.id), entry.flips.get(head.id)
            if one is None:
                continue
            outcome = recorded[head.id, query.query_id]
            rows.append(
                (
                    *(query.query_id, query.text, query.phrasing, query.stratum, query.needle_id, head.key, threshold),
                    *(one.rank, one.kind, words_of(one), outcome.nearest, outcome.needle_distance),
                    turned.before.kind if turned else None,
                )
            )
    return Table(f"sweep-{sweep_id}-queries", COLUMNS, tuple(rows))

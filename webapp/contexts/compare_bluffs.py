"""The bluffs of the Compare page: what each combination bluffs on now and did not before, and the other way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from experiments.reviewing.whole_comparison import Comparison
from experiments.verdicts import bluff_changes as verdicts_bluffs
from webapp.contexts.compare_tables import estimate
from webapp.exports import Column, Table
from webapp.whiskers import Estimate

COLUMNS = (
    Column("combination", "Combination"),
    Column("threshold", "Threshold", description="The cosine distance the bluffs are read at."),
    Column("before", "Bluffs before", description="Share of the shared unanswerable questions, Wilson 95 %."),
    Column("before_low", "low"),
    Column("before_high", "high"),
    Column("after", "Bluffs now"),
    Column("after_low", "now low"),
    Column("after_high", "now high"),
    Column("new", "New", description="Unanswerable questions that were refused before and are answered now."),
    Column("gone", "Gone", description="Unanswerable questions that were answered before and are refused now."),
    Column("n", "n", description="Shared unanswerable questions."),
    Column("difference", "Difference", description="Bluff rate now minus before; 95 % interval by bootstrap."),
    Column("difference_low", "difference low"),
    Column("difference_high", "difference high"),
    Column("p", "p", description="Exact two-sided sign test on the questions that changed."),
    Column("holm_p", "Holm p", description="The same, adjusted for testing all combinations."),
    Column("reading", "Reading"),
)


class BluffLine(NamedTuple):
    """One combination's bluffs."""

    key: str
    name: str
    threshold: float
    before: Estimate
    after: Estimate
    new: int
    gone: int
    n: int
    difference: Estimate
    p: float | None
    holm_p: float | None
    reading: str
    sentence: str


class BluffRow(NamedTuple):
    """One unanswerable question that is bluffed on now and was not, or the other way."""

    query_id: str
    text: str
    stratum: str | None
    url: str | None
    name: str  # of the combination
    new: bool
    before: float | None
    after: float | None


def lines(one: Comparison) -> tuple[BluffLine, ...]:
    """One line a combination whose bluffs can be compared."""
    names, tested = one.names, one.may.tested
    return tuple(
        BluffLine(
            key=each.key,
            name=names[each.key],
            threshold=each.threshold,
            before=estimate(each.before),
            after=estimate(each.after),
            new=len(each.new),
            gone=len(each.gone),
            n=each.n,
            difference=Estimate(each.difference.mean, each.difference.low, each.difference.high, each.difference.n),
            p=each.p if tested else None,
            holm_p=each.holm_p if tested else None,
            reading=verdicts_bluffs.reading(each, one.may, one.alpha),
            sentence=verdicts_bluffs.on_change(each, one.may, one.alpha, names[each.key]),
        )
        for each in one.bluffs.found
    )


def rows(one: Comparison, urls: Mapping[str, str | None], combination: str = "") -> tuple[BluffRow, ...]:
    """The questions that changed sides of the threshold, new bluffs first.

    Args:
        one: The comparison.
        urls: Of questions, in the later sweep.
        combination: Only this one; all when empty.
    """
    names, asked = one.names, one.may.unanswerable
    found = [
        BluffRow(flip.query_id, asked[flip.query_id].text, asked[flip.query_id].stratum, urls.get(flip.query_id),
                 names[each.key], new, flip.before, flip.after)
        for each in one.bluffs.found
        if combination in ("", each.key)
        for new, group in ((True, each.new), (False, each.gone))
        for flip in group
    ]  # fmt: skip
    return tuple(sorted(found, key=lambda row: (not row.new, row.query_id)))


def table(one: Comparison, name: str) -> Table:
    """The combinations' bluffs as data."""
    return Table(
        name,
        COLUMNS,
        tuple(
            (
                line.key, line.threshold, line.before.value, line.before.low, line.before.high, line.after.value,
                line.after.low, line.after.high, line.new, line.gone, line.n, line.difference.value,
                line.difference.low, line.difference.high, line.p, line.holm_p, line.reading,
            )
            for line in lines(one)
        ),
    )  # fmt: skip

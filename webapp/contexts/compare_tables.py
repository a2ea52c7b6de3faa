"""The tables of the Compare page: combinations with what they gained and lost, and the questions behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from experiments.reviewing.comparing import Comparability, Compared
from experiments.reviewing.whole_comparison import Comparison, moves
from experiments.stats.intervals import Proportion
from experiments.verdicts import compare as verdicts_compare
from store.tables import QueryRow
from webapp.exports import Column, Table
from webapp.whiskers import Estimate, Kind

SORTS = ("grid", "broken", "-broken", "fixed", "-fixed", "difference", "-difference", "p", "-p")
NAMED_AT_MOST = 3

FLIP_COLUMNS = (
    Column("query_id", "Question"),
    Column("text", "Asked"),
    Column("phrasing", "Phrasing"),
    Column("document", "Document"),
    Column("broken", "Broken in", "combinations", "Combinations that found it before and do not now."),
    Column("fixed", "Fixed in", "combinations", "Combinations that find it now and did not before."),
    Column("combination", "Combination", description="The one whose ranks stand in this row."),
    Column("before", "Rank before", description="Rank of the first chunk with the needle whole; empty: not returned."),
    Column("after", "Rank now"),
)


class Line(NamedTuple):
    """One combination of the table."""

    key: str
    name: str
    before: Estimate
    after: Estimate
    fixed: int
    broken: int
    unchanged: int
    n: int
    difference: Estimate
    p: float | None
    holm_p: float | None
    needle_p: float | None
    reading: str
    kind: Kind
    sentence: str


class Move(NamedTuple):
    """One question under one combination, before and after."""

    key: str
    name: str
    before: int | None
    after: int | None
    destroyed: bool  # after
    broken: bool


class FlipRow(NamedTuple):
    """One question whose answer was lost or found somewhere."""

    query_id: str
    text: str
    phrasing: str | None
    document: str | None
    needle: str | None
    url: str | None
    broken: int
    fixed: int
    moves: tuple[Move, ...]  # a few of them, what broke first
    more: int  # not shown


def columns(k: int) -> tuple[Column, ...]:
    """The columns of the combinations' table."""
    return (
        Column("combination", "Combination"),
        Column("before", f"R@{k} before", description="On the shared questions, Wilson 95 %."),
        Column("before_low", "low"),
        Column("before_high", "high"),
        Column("after", f"R@{k} now"),
        Column("after_low", "now low"),
        Column("after_high", "now high"),
        Column("fixed", "Fixed", description="Questions found now that were not found before."),
        Column("broken", "Broken", description="Questions found before that are not found now."),
        Column("unchanged", "Unchanged"),
        Column("n", "n", description="Shared answerable questions."),
        Column(
            "difference", "Difference", description="R@k now minus before; 95 % interval by bootstrap over needles."
        ),
        Column("difference_low", "difference low"),
        Column("difference_high", "difference high"),
        Column("p", "p", description="Exact two-sided sign test on the questions that changed."),
        Column("holm_p", "Holm p", description="The same, adjusted for testing all combinations."),
        Column("needle_p", "p by needle", description="The same test with each needle counted once."),
        Column(
            "reading", "Reading", description="What the test comes to; nothing is a change without Holm p under alpha."
        ),
    )


def lines(one: Comparison) -> list[Line]:
    """One line a combination: compared where that is allowed, else its two numbers side by side."""
    names = one.names
    if one.may.claim == "nothing":
        old, new = one.alone_before, one.alone_after
        return [_alone(key, names[key], old[key], new[key]) for key in new if key in old]
    return [_line(each, one.may, one.alpha, names[each.key]) for each in one.found]


def ordered(lines: Sequence[Line], sort: str) -> list[Line]:
    """In the chosen order; in the order of the grid, what changed first, when none is chosen."""
    name, down = sort.removeprefix("-"), sort.startswith("-")
    if name == "broken":
        return sorted(lines, key=lambda line: line.broken, reverse=down)
    if name == "fixed":
        return sorted(lines, key=lambda line: line.fixed, reverse=down)
    if name == "difference":
        return sorted(lines, key=lambda line: line.difference.value or 0.0, reverse=down)
    if name == "p":
        return sorted(lines, key=lambda line: 1.0 if line.p is None else line.p, reverse=down)
    rank = {"fewer": 0, "more": 1, "same": 3}
    return sorted(lines, key=lambda line: rank.get(line.reading, 2))


def table(lines: Sequence[Line], k: int, name: str) -> Table:
    """The combinations as data."""
    return Table(
        name,
        columns(k),
        tuple(
            (
                line.key, line.before.value, line.before.low, line.before.high, line.after.value, line.after.low,
                line.after.high, line.fixed, line.broken, line.unchanged, line.n, line.difference.value,
                line.difference.low, line.difference.high, line.p, line.holm_p, line.needle_p, line.reading,
            )
            for line in lines
        ),
    )  # fmt: skip


def flips(one: Comparison, urls: Mapping[str, str | None], combination: str = "") -> list[FlipRow]:
    """The questions whose answer was lost or found, those lost in most combinations first.

    Args:
        one: The comparison.
        urls: Of questions, in the later sweep.
        combination: Only this one; all when empty.
    """
    names = one.names
    destroyed = {
        (each.key, found.query_id)
        for each in one.found
        for found in one.after.outcomes.get(each.key, ())
        if found.destroyed
    }
    return [
        _flip(
            one.may.shared[query],
            [
                Move(move.key, names[move.key], move.before, move.after, (move.key, query) in destroyed, move.broken)
                for move in moved
            ],
            urls,
        )
        for query, moved in moves(one.found, combination).items()
    ]


def flip_table(rows: Sequence[FlipRow], name: str) -> Table:
    """The questions as data: one row a question and combination shown."""
    return Table(
        name,
        FLIP_COLUMNS,
        tuple(
            (
                row.query_id,
                row.text,
                row.phrasing,
                row.document,
                row.broken,
                row.fixed,
                move.key,
                move.before,
                move.after,
            )
            for row in rows
            for move in row.moves
        ),
    )


def _flip(row: QueryRow, moved: Sequence[Move], urls: Mapping[str, str | None]) -> FlipRow:
    broken = sum(move.broken for move in moved)
    return FlipRow(
        query_id=row.query_id,
        text=row.text,
        phrasing=row.phrasing,
        document=row.document,
        needle=row.needle,
        url=urls.get(row.query_id),
        broken=broken,
        fixed=len(moved) - broken,
        moves=tuple(moved[:NAMED_AT_MOST]),
        more=max(len(moved) - NAMED_AT_MOST, 0),
    )


def _line(one: Compared, may: Comparability, alpha: float, name: str) -> Line:
    change, read = one.change, verdicts_compare.reading(one, may, alpha)
    tested = may.tested
    mean = change.difference
    kinds: dict[str, Kind] = {"more": "best", "fewer": "alarm"}
    return Line(
        key=one.key,
        name=name,
        before=estimate(one.before),
        after=estimate(one.after),
        fixed=len(change.fixed),
        broken=len(change.broken),
        unchanged=change.unchanged,
        n=change.n,
        difference=Estimate(mean.mean, mean.low, mean.high, mean.n),
        p=change.p if tested else None,
        holm_p=change.holm_p if tested else None,
        needle_p=change.needle_p if tested else None,
        reading=read,
        kind=kinds.get(read, "plain"),
        sentence=verdicts_compare.on_change(one, may, alpha, name),
    )


def _alone(key: str, name: str, before: Proportion, after: Proportion) -> Line:
    none = Estimate(None, None, None, 0)
    return Line(
        key, name, estimate(before), estimate(after), 0, 0, 0, 0, none, None, None, None, "untested", "plain", ""
    )


def estimate(share: Proportion) -> Estimate:
    """A proportion as pages draw it."""
    return Estimate(share.estimate, share.low, share.high, share.n, share.hits)

"""Reading two sweeps for the Compare page: which two, and what they say about each other."""

from __future__ import annotations

from collections.abc import Sequence

from flask import request

from experiments.reviewing.references import (
    HOLDING_NUMBERS,
    ReferenceUnclearError,
    ReferenceUnknownError,
    find_sweep,
)
from experiments.reviewing.sides import Line, line_of, sides
from experiments.reviewing.whole_comparison import compare, depths
from store import reads_history
from store.decisions import decision_in_force
from store.tables import SweepRow
from webapp import params
from webapp.contexts import compare_bluffs, compare_tables
from webapp.contexts.compare import Choice, Facts
from webapp.dashboard import dashboard
from webapp.errors import PageError, shown
from webapp.links import url_or_none
from webapp.sweeps import remember_sweep

SHOWN = 100


class NotTwoError(PageError):
    """There are fewer than two sweeps."""

    status = 404
    title = "There is nothing to compare"

    def __init__(self, why: str) -> None:
        """Say what there is."""
        super().__init__(why, "Run `bluffline run`, or start a sweep from the overview.")


class NotFoundError(PageError):
    """A side of the comparison that is not here."""

    status = 404
    title = "There is no such sweep"


class UnclearError(PageError):
    """A side of the comparison that could be several sweeps."""

    title = "It is not clear which sweep is meant"


def choosable() -> list[SweepRow]:
    """Sweeps that can hold numbers, newest first."""
    found = reads_history.sweeps_before(dashboard().engine, None, SHOWN)
    newest = next((sweep.id for sweep in found if sweep.state == "finished"), None)
    remember_sweep(newest)
    return [sweep for sweep in found if sweep.state in HOLDING_NUMBERS]


def why_not(sweeps: Sequence[SweepRow]) -> str:
    """Why nothing can be compared: there are not two sweeps."""
    if not sweeps:
        return "No sweep here holds numbers. Two of them, such as those of two commits, can be compared."
    return f"Only sweep {sweeps[0].id} holds numbers. Make another, such as at the next commit, to see what it changed."


def read(sweeps: list[SweepRow]) -> tuple[Facts, Choice]:
    """Both sweeps compared, in at most six statements where their names are the store's own.

    Raises:
        NotTwoError: If there are not two sweeps.
    """
    if len(sweeps) < 2:
        raise NotTwoError(why_not(sweeps))
    engine = dashboard().engine
    before, after = sides(engine, _two(sweeps))
    ks = depths(before, after)
    threshold = params.decimal(request.args, "threshold", 0, 2, None)
    asked = None if threshold is None else Line(threshold, None, {}, ("near", "far"), "as asked")
    both = [key for key in after.outcomes if key in before.outcomes]
    choice = Choice(
        a=before.sweep.id or 0,
        b=after.sweep.id or 0,
        k=params.integer_of(request.args, "k", ks, max(ks)),
        ks=ks,
        combination=params.choice(request.args, "combination", both, ""),
        sort=params.choice(request.args, "sort", compare_tables.SORTS, "grid"),
        threshold=threshold,
    )
    comparison = compare(before, after, choice.k, asked or line_of(decision_in_force(engine)))
    may = comparison.may
    urls = {
        query_id: url_or_none("queries.query", sweep_id=choice.b, query_id=query_id)
        for query_id in (*may.shared, *may.unanswerable)
    }
    facts = Facts(
        comparison=comparison,
        flips=compare_tables.flips(comparison, urls, choice.combination),
        bluff_rows=compare_bluffs.rows(comparison, urls, choice.combination),
    )
    return facts, choice


def _two(sweeps: list[SweepRow]) -> tuple[SweepRow, SweepRow]:
    """The sweeps the address names; the newest and the one before on the same documents and questions by default."""
    after = _named("b")
    before = _named("a")
    if after is None:
        candidates = [one for one in sweeps if before is None or one.id != before.id]
        after = next((one for one in candidates if one.state == "finished"), candidates[0])
    if before is None:
        order = [one.id for one in sweeps]
        place = order.index(after.id) if after.id in order else -1
        older = sweeps[place + 1 :] or [one for one in sweeps if one.id != after.id]
        same = [
            one
            for one in older
            if (one.corpus_hash, one.questions_hash, one.state) == (after.corpus_hash, after.questions_hash, "finished")
        ]
        before = (same or older)[0]
    return before, after


def _named(name: str) -> SweepRow | None:
    """The sweep that a parameter means; None where it is empty."""
    wanted = params.text(request.args, name, 200)
    if not wanted:
        return None
    try:
        return find_sweep(dashboard().engine, wanted, dashboard().root)
    except ReferenceUnknownError as error:
        said = str(error)
        raise NotFoundError(
            f"{name} = {shown(wanted)}: {said}.",
            "Write the number of a sweep or its commit, tag or branch, or fetch sweeps recorded elsewhere with "
            "`bluffline sync`.",
        ) from error
    except ReferenceUnclearError as error:
        raise UnclearError(f"{name} = {shown(wanted)}: {error}.", "Write which of them in the address.") from error

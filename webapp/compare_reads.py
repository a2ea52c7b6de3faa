"""Reading two sweeps for the Compare page: which two, and what they share."""

from __future__ import annotations

from collections.abc import Sequence

from flask import request

from experiments.naming import names_of
from experiments.reviewing import comparing
from store import reads, reads_compare, reads_history
from store.tables import CombinationRow, SweepRow
from webapp import params
from webapp.contexts import compare_tables
from webapp.contexts.compare import Choice, Facts
from webapp.dashboard import dashboard
from webapp.errors import PageError
from webapp.links import url_or_none
from webapp.params import BadParameterError
from webapp.sweeps import UnknownSweepError, remember_sweep

CHOOSABLE = ("finished", "running", "interrupted", "cancelled")
SHOWN = 100
LONGEST_NUMBER = 7  # digits; what is longer is a commit


class NotTwoError(PageError):
    """There are fewer than two sweeps."""

    status = 404
    title = "There is nothing to compare"

    def __init__(self, why: str) -> None:
        """Say what there is."""
        super().__init__(why, "Run `bluffline run`, or start a sweep from the overview.")


def choosable() -> list[SweepRow]:
    """Sweeps that can hold numbers, newest first."""
    found = reads_history.sweeps_before(dashboard().engine, None, SHOWN)
    newest = next((sweep.id for sweep in found if sweep.state == "finished"), None)
    remember_sweep(newest)
    return [sweep for sweep in found if sweep.state in CHOOSABLE]


def why_not(sweeps: Sequence[SweepRow]) -> str:
    """Why nothing can be compared: there are not two sweeps."""
    if not sweeps:
        return "No sweep here holds numbers. Two of them, such as those of two commits, can be compared."
    return f"Only sweep {sweeps[0].id} holds numbers. Make another, such as at the next commit, to see what it changed."


def read(sweeps: list[SweepRow]) -> tuple[Facts, Choice]:
    """Both sweeps compared, in at most seven statements.

    Raises:
        NotTwoError: If there are not two sweeps.
    """
    if len(sweeps) < 2:
        raise NotTwoError(why_not(sweeps))
    engine = dashboard().engine
    before, after = _two(sweeps)
    ks = tuple(k for k in after.settings["k"] if k in before.settings["k"]) or tuple(after.settings["k"])
    combinations = {sweep.id: reads.combinations(engine, sweep.id or 0) for sweep in (before, after)}
    ranks = reads_compare.ranks(engine, [before.id or 0, after.id or 0])
    sets = reads_compare.question_sets(engine, [before.questions_hash, after.questions_hash])
    asked_before, asked_after = sets[before.questions_hash], sets[after.questions_hash]
    old, new = ranks[before.id or 0], ranks[after.id or 0]
    may = comparing.comparability(before, after, asked_before, asked_after)
    choice = Choice(
        a=before.id or 0,
        b=after.id or 0,
        k=params.integer_of(request.args, "k", ks, max(ks)),
        ks=ks,
        combination=params.choice(request.args, "combination", [key for key in new if key in old], ""),
        sort=params.choice(request.args, "sort", compare_tables.SORTS, "grid"),
    )
    alpha = float(after.settings["alpha"])
    found = comparing.compared(may, old, new, choice.k, alpha=alpha, seed=int(after.settings["seed"]))
    urls = {query_id: url_or_none("queries.query", sweep_id=choice.b, query_id=query_id) for query_id in may.shared}
    facts = Facts(
        before=before,
        after=after,
        may=may,
        found=found,
        alone_before=comparing.side_by_side(old, asked_before, choice.k),
        alone_after=comparing.side_by_side(new, asked_after, choice.k),
        settings=comparing.settings_differences(before, after, combinations[before.id], combinations[after.id]),
        missing=_missing(before, after, combinations[before.id], combinations[after.id]),
        flips=compare_tables.flips(found, may, new, names_of([*new, *old]), urls, choice.combination),
        alpha=alpha,
    )
    return facts, choice


def _two(sweeps: list[SweepRow]) -> tuple[SweepRow, SweepRow]:
    """The sweeps the address names; the newest and the one before on the same documents and questions by default."""
    after = _named("b", sweeps)
    before = _named("a", sweeps)
    if after is None:
        candidates = [one for one in sweeps if before is None or one.id != before.id]
        after = next((one for one in candidates if one.state == "finished"), candidates[0])
    if before is None:
        older = [one for one in sweeps if (one.id or 0) < (after.id or 0)] or [
            one for one in sweeps if one is not after
        ]
        same = [
            one
            for one in older
            if (one.corpus_hash, one.questions_hash, one.state) == (after.corpus_hash, after.questions_hash, "finished")
        ]
        before = (same or older)[0]
    return before, after


def _named(name: str, sweeps: list[SweepRow]) -> SweepRow | None:
    """A sweep by its number, or the newest of a commit, a tag or a branch; None where the address names none."""
    wanted = params.text(request.args, name, 200)
    if not wanted:
        return None
    if wanted.isascii() and wanted.isdecimal() and len(wanted) < LONGEST_NUMBER:
        number = int(wanted)
        found = next((sweep for sweep in sweeps if sweep.id == number), None)
        row = found or reads.sweep(dashboard().engine, number)
        if row is None:
            raise UnknownSweepError(number)
        if row.state not in CHOOSABLE:
            raise BadParameterError(name, wanted, f"a sweep that holds numbers; sweep {number} is {row.state}")
        return row
    for sweep in sweeps:
        if wanted in (sweep.tag, sweep.branch) or (
            len(wanted) >= 4 and (sweep.commit or "").startswith(wanted.lower())
        ):
            return sweep
    raise BadParameterError(name, wanted, "the number of a sweep, or the commit, tag or branch of one that is here")


def _missing(
    before: SweepRow, after: SweepRow, old: Sequence[CombinationRow], new: Sequence[CombinationRow]
) -> list[tuple[str, str]]:
    """Combinations that only one side has numbers of, with what is known of the other."""
    names = names_of([row.key for row in (*old, *new)])
    sides: list[tuple[SweepRow, dict[str, CombinationRow]]] = [
        (before, {row.key: row for row in old}),
        (after, {row.key: row for row in new}),
    ]
    found = []
    for key, name in names.items():
        said: list[str] = []
        for sweep, rows in sides:
            row = rows.get(key)
            if row is None:
                said.append(f"not part of sweep {sweep.id}")
            elif row.state != "recorded":
                said.append(f"{row.state} in sweep {sweep.id}" + (f": {row.reason}" if row.reason else ""))
        if said:
            found.append((name, "; ".join(said)))
    return found

"""Reading the question list of a sweep, in as many statements for fifty combinations as for one."""

from __future__ import annotations

from typing import NamedTuple

from flask import request

from store import reads
from store.decisions import decision_in_force
from store.reads import OutcomeRecord
from store.reads_before import outcomes_by_key
from store.tables import CombinationRow, QueryRow, SweepRow
from webapp import combinations, params, question_list
from webapp.combinations import Shown
from webapp.contexts.queries import Found, Others
from webapp.cuts import Cut, cut_of
from webapp.dashboard import dashboard
from webapp.filters import short_hash
from webapp.question_list import Asked, Entry
from webapp.sweeps import get_sweep

LISTED = 100  # sweeps offered for comparison, the newest


class Read(NamedTuple):
    """A sweep's questions, as one address asks for them."""

    sweep: SweepRow
    rows: list[CombinationRow]
    shown: Shown
    queries: list[QueryRow]
    outcomes: dict[int, list[OutcomeRecord]]
    cut: Cut
    state: Asked
    entries: list[Entry]  # of all questions, whatever is asked for
    found: Found
    others: Others


def read(sweep_id: int, *, offered: bool = True) -> Read:
    """Everything the list needs, in at most seven statements.

    Args:
        sweep_id: The sweep.
        offered: Whether other sweeps are to be offered for comparison; the page of one question offers none and
            takes what the list's address says.

    Raises:
        UnknownSweepError: If there is no such sweep.
        BadParameterError: If a parameter cannot be read.
    """
    engine, sweep = dashboard().engine, get_sweep(sweep_id)
    rows = reads.combinations(engine, sweep_id)
    shown = combinations.shown(sweep, rows)
    queries = reads.queries(engine, sweep.questions_hash)
    state = question_list.asked(queries, shown.heads)
    cut = cut_of(sweep, None if request.args.get("t") else decision_in_force(engine))
    others = _offered(sweep, state) if offered else _asked_for(state)
    before = _before(shown, others.against) if others.against is not None else {}
    outcomes = reads.outcomes(engine, sweep_id, shown.ids)
    ordered = {combination: outcomes.get(combination, []) for combination in shown.ids}
    entries = question_list.entries(queries, ordered, cut.threshold, before)
    fitting = question_list.fitting(entries, state)
    found = Found(fitting, question_list.counts(fitting), question_list.chosen(fitting, state))
    return Read(sweep, rows, shown, queries, ordered, cut, state, entries, found, others._replace(shared=len(before)))


def _offered(sweep: SweepRow, state: Asked) -> Others:
    """The sweeps that can be compared with, and the one that is: the one before where only flips are asked for."""
    listed = [one for one in reads.sweeps(dashboard().engine, LISTED) if one.id != sweep.id]
    options = tuple((str(one.id), _named(one)) for one in listed)
    chosen = params.choice(request.args, "against", ["", *(value for value, _ in options)], "")
    if chosen:
        return Others(options, int(chosen), 0)
    older = [one.id for one in listed if one.id and sweep.id and one.id < sweep.id and one.state == "finished"]
    return Others(options, older[0] if older and state.which == "flipped" else None, 0)


def _asked_for(state: Asked) -> Others:
    """The sweep that decides which questions are in the list, needed only where the list is of flips."""
    against = params.integer(request.args, "against", 1, 2**62, 0)
    return Others((), against if against and state.which == "flipped" else None, 0)


def _named(sweep: SweepRow) -> str:
    parts = [f"sweep {sweep.id}", short_hash(sweep.commit) if sweep.commit else "", sweep.branch or ""]
    return " ".join(part for part in parts if part)


def _before(shown: Shown, against: int) -> dict[int, list[OutcomeRecord]]:
    """Outcomes of the same combinations in another sweep, by the ids they have here."""
    here = {head.key: head.id for head in shown.heads}
    found = outcomes_by_key(dashboard().engine, against, list(here))
    return {here[key]: outcomes for key, outcomes in found.items()}

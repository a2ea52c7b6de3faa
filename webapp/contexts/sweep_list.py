"""The last sweeps: where each comes from, how it ended, and its best combination."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from experiments import measures
from experiments.naming import name_of
from experiments.own.responses import CANNOT_BE_JUDGED, WITHOUT_NUMBERS
from experiments.reviewing.document_states import FailedDocument, failed_documents
from experiments.reviewing.trends import Measured, best, changed
from experiments.verdicts.overview import on_end
from store.reads_history import CombinationState, NumberRecord
from store.tables import SweepRow
from store.writes_exchange import HALF_WRITTEN
from webapp.exports import Column, Table

LENGTHS = (10, 25, 100)
GOOD_ENDS = ("finished", "running", "queued")

COLUMNS = (
    Column("sweep", "Sweep"),
    Column("state", "State"),
    Column("commit", "Commit"),
    Column("branch", "Branch"),
    Column("dirty", "Uncommitted", description="Whether there were uncommitted changes."),
    Column("measured_at", "Measured", "UTC"),
    Column("corpus_hash", "Documents", description="Hash of the documents: equal hashes, equal documents."),
    Column("questions_hash", "Questions", description="Hash of the question set."),
    Column("recorded", "Recorded", description="Combinations that have numbers."),
    Column("failed", "Failed", description="Combinations that failed or cannot be judged."),
    Column("combinations", "Combinations"),
    Column("best", "Best combination", description="The combination that finds most, the earlier one of equals."),
    Column("value", "Value", description="Its share of answerable questions with the needle whole in the top k."),
    Column("low", "Low", description="Lower end of Wilson's 95 % interval."),
    Column("high", "High", description="Upper end of Wilson's 95 % interval."),
    Column("n", "n", description="Answerable questions."),
    Column("reason", "Reason", description="Why a sweep did not finish."),
)
FAILED_COLUMNS = (
    Column("sweep", "Sweep"),
    Column("combination", "Combination"),
    Column("reason", "Reason"),
)

FAILED_DOCUMENT_COLUMNS = (
    Column("sweep", "Sweep"),
    Column("document", "Document"),
    Column("reason", "Reason"),
    Column("advice", "Advice"),
)


class SweepLine(NamedTuple):
    """One row of the list."""

    sweep_id: int
    url: str
    state: str
    reason: str
    advice: str
    commit: str | None
    tag: str | None
    branch: str | None
    dirty: bool | None
    created_at: datetime
    corpus_hash: str
    documents: int
    documents_changed: bool
    questions_hash: str
    questions: int
    questions_changed: bool
    recorded: int
    failed: int
    unjudged: int  # combinations that cannot be judged
    total: int
    left_out: int
    best_name: str
    best: Measured | None
    compare_url: str | None
    compared_with: int | None
    is_a: bool
    is_b: bool


class FailedLine(NamedTuple):
    """A combination without numbers."""

    sweep_id: int
    name: str
    reason: str


class Ended(NamedTuple):
    """A sweep that did not finish, newer than the last one that did."""

    sweep_id: int
    url: str
    state: str
    reason: str
    advice: str


def lines(
    sweeps: Sequence[SweepRow],
    states: Mapping[int, Sequence[CombinationState]],
    numbers: Mapping[int, Sequence[NumberRecord]],
    k: int,
    *,
    urls: Mapping[int, str],
    compare_url: str | None,
    length: int,
) -> tuple[SweepLine, ...]:
    """The newest `length` sweeps.

    Args:
        sweeps: Newest first; those beyond `length` say what changed before the last one shown.
        states: Combinations by sweep.
        numbers: R@k by sweep.
        k: Depth.
        urls: Where each sweep's page is.
        compare_url: The Compare page; None where this dashboard has none.
        length: Rows.
    """
    finished = [sweep.id for sweep in sweeps if sweep.state == "finished"][:2]
    b, a, *_ = [*finished, None, None]
    shown = []
    for place, sweep in enumerate(sweeps[:length]):
        sweep_id, older = sweep.id or 0, next(iter(sweeps[place + 1 : place + 2]), None)
        found = states.get(sweep_id, ())
        differs = changed(older, sweep)
        leader = best(measures.recall(k), numbers.get(sweep_id, ()))
        recorded = sum(one.state == "recorded" for one in found)
        earlier = next((one.id for one in sweeps[place + 1 :] if one.state == "finished"), None)
        shown.append(
            SweepLine(
                sweep_id=sweep_id,
                url=urls[sweep_id],
                state=sweep.state,
                reason=sweep.reason or "",
                advice=_advice(sweep, recorded, len(found)),
                commit=sweep.commit,
                tag=sweep.tag,
                branch=sweep.branch,
                dirty=sweep.dirty,
                created_at=sweep.created_at,
                corpus_hash=sweep.corpus_hash,
                documents=sweep.documents,
                documents_changed="documents" in differs,
                questions_hash=sweep.questions_hash,
                questions=sweep.answerable + sweep.near + sweep.far,
                questions_changed="questions" in differs,
                recorded=recorded,
                failed=sum(one.state == "failed" for one in found),
                unjudged=sum(one.state == CANNOT_BE_JUDGED for one in found),
                total=len(found),
                left_out=int(sweep.settings.get("left_out", 0)),
                best_name=name_of(leader.key) if leader else "",
                best=leader,
                compare_url=f"{compare_url}?a={earlier}&b={sweep_id}" if compare_url and earlier and recorded else None,
                compared_with=earlier,
                is_a=sweep.id == a,
                is_b=sweep.id == b,
            )
        )
    return tuple(shown)


def _advice(sweep: SweepRow, recorded: int, total: int) -> str:
    """What to do about a sweep that ended early; nothing where its reason says that it goes on elsewhere."""
    return "" if (sweep.reason or "").startswith(HALF_WRITTEN) else on_end(sweep.state, recorded, total)


def unfinished(
    sweeps: Sequence[SweepRow], states: Mapping[int, Sequence[CombinationState]], urls: Mapping[int, str]
) -> tuple[Ended, ...]:
    """Sweeps that ended early since the last one that finished, newest first."""
    found = []
    for sweep in sweeps:
        if sweep.state == "finished":
            break
        if sweep.state not in GOOD_ENDS:
            sweep_id = sweep.id or 0
            combinations = states.get(sweep_id, ())
            recorded = sum(one.state == "recorded" for one in combinations)
            advice = _advice(sweep, recorded, len(combinations))
            found.append(Ended(sweep_id, urls[sweep_id], sweep.state, sweep.reason or "", advice))
    return tuple(found)


def failures(sweeps: Sequence[SweepRow], states: Mapping[int, Sequence[CombinationState]]) -> tuple[FailedLine, ...]:
    """Failed combinations of the newest sweep that finished and of those after it."""
    found = []
    for sweep in sweeps:
        found += [
            FailedLine(sweep.id or 0, name_of(one.key), _reason(one))
            for one in states.get(sweep.id or 0, ())
            if one.state in WITHOUT_NUMBERS
        ]
        if sweep.state == "finished":
            break
    return tuple(found)


def _reason(one: CombinationState) -> str:
    reason = one.reason or "no reason was recorded"
    return reason if one.state == "failed" else f"{one.state}: {reason}"


def table(
    sweeps: Sequence[SweepRow],
    states: Mapping[int, Sequence[CombinationState]],
    numbers: Mapping[int, Sequence[NumberRecord]],
    k: int,
) -> Table:
    """The list as data, newest first, hashes and commits in full."""
    rows = []
    for sweep in sweeps:
        found = states.get(sweep.id or 0, ())
        leader = best(measures.recall(k), numbers.get(sweep.id or 0, ()))
        shares = (leader.key, leader.value, leader.low, leader.high, leader.n) if leader else (None,) * 5
        rows.append(
            (
                sweep.id, sweep.state, sweep.commit, sweep.branch, sweep.dirty,
                sweep.created_at.isoformat(timespec="seconds"), sweep.corpus_hash, sweep.questions_hash,
                sum(one.state == "recorded" for one in found), sum(one.state in WITHOUT_NUMBERS for one in found),
                len(found), *shares, sweep.reason,
            )
        )  # fmt: skip
    return Table(f"sweeps-at-{k}", COLUMNS, tuple(rows))


def failed_table(lines: Sequence[FailedLine]) -> Table:
    """Failed combinations as data."""
    return Table("failed-combinations", FAILED_COLUMNS, tuple((one.sweep_id, one.name, one.reason) for one in lines))


def documents_left_out(sweeps: Sequence[SweepRow]) -> tuple[FailedDocument, ...]:
    """The documents that the newest sweep could not read."""
    return failed_documents(sweeps[0].settings) if sweeps else ()


def failed_documents_table(sweeps: Sequence[SweepRow]) -> Table:
    """Failed documents of the newest sweep as data."""
    rows = tuple((sweeps[0].id, one.file, one.problem, one.advice) for one in documents_left_out(sweeps))
    return Table("failed-documents", FAILED_DOCUMENT_COLUMNS, rows)

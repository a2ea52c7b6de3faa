"""The sweep a page is about: found, or said to be unknown; and the line of facts that stands above its pages."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from flask import g
from sqlalchemy.exc import SQLAlchemyError

from experiments.verdicts.hit_rules import on_questions, on_words
from store import reads
from store.addresses import without_password
from store.tables import SweepRow
from webapp.dashboard import dashboard
from webapp.errors import PageError, shown


class UnknownSweepError(PageError):
    """A sweep that is not in the store."""

    status = 404
    title = "There is no such sweep"

    def __init__(self, sweep_id: int) -> None:
        """Keep which sweep was asked for."""
        super().__init__(
            f"Sweep {shown(sweep_id)} is not in this dashboard's store.",
            "Choose one from the overview, or fetch sweeps recorded elsewhere with `bluffline sync`.",
        )


@dataclass(frozen=True, slots=True)
class Strip:
    """The line of facts above the pages of a sweep."""

    sweep_id: int
    state: str
    reason: str | None
    commit: str | None
    branch: str | None
    dirty: bool | None
    corpus_hash: str
    documents: int
    answerable: int
    unanswerable: int
    over: str  # what the answerable questions are asked over
    hit_rule: str
    hit_words: str  # what the rule does to the numbers; empty under the usual one
    created_at: datetime
    mlflow_url: str | None
    mlflow_run_id: str | None
    csv_url: str | None
    json_url: str | None


def get_sweep(sweep_id: int) -> SweepRow:
    """The sweep of a page, which the navigation then points to.

    Raises:
        UnknownSweepError: If the store does not have it.
    """
    row = reads.sweep(dashboard().engine, sweep_id) if sweep_id < 2**63 else None
    if row is None:
        raise UnknownSweepError(sweep_id)
    g.sweep_id = sweep_id
    return row


def remember_sweep(sweep_id: int | None) -> None:
    """Say which sweep the navigation points to, where a page has read it anyway."""
    g.sweep_id = sweep_id


def current_sweep_id() -> int | None:
    """The sweep that links lead to: the one of this page, else the newest finished one; None when there is none."""
    if "sweep_id" not in g:
        g.sweep_id = _newest()
    found: int | None = g.sweep_id
    return found


def _newest() -> int | None:
    if g.get("without_store"):
        return None
    try:
        row = reads.latest_sweep(dashboard().engine, "finished")
    except SQLAlchemyError:  # the navigation of an error page must not fail itself
        return None
    return row.id if row else None


def strip_of(sweep: SweepRow, *, csv_url: str | None = None, json_url: str | None = None) -> Strip:
    """The facts of a sweep, with the links to its page's main table."""
    uri = without_password(sweep.mlflow_uri or "")
    return Strip(
        sweep_id=sweep.id or 0,
        state=sweep.state,
        reason=sweep.reason,
        commit=sweep.commit,
        branch=sweep.branch,
        dirty=sweep.dirty,
        corpus_hash=sweep.corpus_hash,
        documents=sweep.documents,
        answerable=sweep.answerable,
        unanswerable=sweep.near + sweep.far,
        over=on_questions(sweep.hit_rule, sweep.needles),
        hit_rule=sweep.hit_rule,
        hit_words=on_words(sweep.hit_rule),
        created_at=sweep.created_at,
        mlflow_url=uri if uri.startswith(("http://", "https://")) else None,
        mlflow_run_id=sweep.mlflow_run_id,
        csv_url=csv_url,
        json_url=json_url,
    )

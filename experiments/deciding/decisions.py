"""A decision: a threshold, what it was chosen on, who chose it and why. Recorded once, superseded, never edited."""

from __future__ import annotations

import json
import math
import unicodedata
import uuid
from datetime import UTC, datetime

from sqlalchemy import Engine

from experiments.conditions import FUSED, OWN, spec_in
from experiments.deciding.choosing import AtMost, ByHand, Cheapest, Choice
from experiments.deciding.decision_fit import WITHOUT_BM25, scorer_record
from experiments.deciding.evidence import DecisionError, Evidence, evidence_record
from experiments.gate import GATE_SIZE
from experiments.ranking import DEFAULT_FUSION
from store.decisions import add_decision
from store.tables import DecisionRow

PICKED_BY = {Cheapest: "cost", AtMost: "bound", ByHand: "hand"}
LONGEST_REASON = 10_000  # characters
LONGEST_NAME = 200


def decision_from(
    evidence: Evidence, choice: Choice, *, who: str, reason: str, project: str, supersedes: int | None
) -> DecisionRow:
    """Put a decision together; nothing is recorded yet.

    Args:
        evidence: What was considered.
        choice: The threshold that was chosen.
        who: Whoever decides.
        reason: Why; required.
        project: Name of the project.
        supersedes: Id of the decision that is in force, as whoever decides has seen it; None for the first.

    Raises:
        DecisionError: If the reason or the name is blank, too long, or holds characters that no text has.
    """
    sweep, combination, terms = evidence.sweep, evidence.combination, evidence.terms
    own = combination.strategy == OWN
    record = evidence_record(evidence, choice)
    json.dumps(record, allow_nan=False)  # a number that JSON does not know would be found only when it is read again
    return DecisionRow(
        key=uuid.uuid4().hex,
        supersedes=supersedes,
        created_at=datetime.now(UTC),
        who=_text("a name", who, LONGEST_NAME),
        reason=_text("a reason", reason, LONGEST_REASON),
        project=project,
        sweep_id=sweep.id or 0,
        sweep_key=sweep.key,
        commit=sweep.commit,
        branch=sweep.branch,
        dirty=sweep.dirty,
        combination=combination.key,
        strategy=combination.strategy,
        strategy_spec=spec_in(sweep.settings, combination.strategy, combination.retriever) or "not described",
        retriever=combination.retriever,
        retriever_settings=None if own or combination.retriever in WITHOUT_BM25 else sweep.settings["bm25"],
        fusion=sweep.settings.get("hybrid", DEFAULT_FUSION.describe()) if combination.retriever in FUSED else None,
        model=combination.model,
        scorer=combination.scorer,
        stamp=dict(combination.stamp.get("model", {})),
        scorer_stamp=scorer_record(combination.stamp, combination.retriever, sweep.settings),
        threshold=choice.threshold,
        gate_size=GATE_SIZE,
        corpus_hash=sweep.corpus_hash,
        questions_hash=sweep.questions_hash,
        hit_rule=sweep.hit_rule,
        pipeline=sweep.pipeline,
        picked_by=PICKED_BY[type(choice.way)],
        costs={name: float(cost) for name, cost in terms.costs._asdict().items()},
        unanswerable_share=terms.unanswerable_share,
        target=terms.target,
        confidence=terms.confidence,
        evidence=record,
    )


def record(engine: Engine, decision: DecisionRow) -> DecisionRow:
    """Record a decision; it is in force from then on.

    Raises:
        store.decisions.StaleDecisionError: If another one was recorded since `supersedes` was looked up.
    """
    if not (math.isfinite(decision.threshold) and 0 <= decision.threshold <= 2):
        raise DecisionError(f"a cosine distance lies between 0 and 2, got {decision.threshold:g}")
    return add_decision(engine, decision)


def decided_at(decision: DecisionRow) -> datetime:
    """When it was decided, in UTC; SQLite gives the moment back without its time zone."""
    moment = decision.created_at
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)


def on_decision(decision: DecisionRow) -> str:
    """A decision in one sentence."""
    made = f"chosen by {decision.who} on {decided_at(decision):%Y-%m-%d} on sweep {decision.sweep_id}"
    commit = f"commit {decision.commit[:12]}" if decision.commit else "no commit"
    made += f", {commit}{' with uncommitted changes' if decision.dirty else ''}"
    what = f"threshold {decision.threshold:g} for {decision.combination}"
    return f"Decision {decision.id}: {what}, {made}: {decision.reason}"


def _text(what: str, value: str, longest: int) -> str:
    """A text that every database and file can hold."""
    text = value.strip()
    if not text:
        raise DecisionError(f"{what} is required: whoever reads the decision later must know it")
    if len(text) > longest:
        raise DecisionError(f"{what} may be {longest:,} characters long, this one has {len(text):,}")
    odd = [character for character in text if character not in "\n\r\t" and unicodedata.category(character) in _NO_TEXT]
    if odd:
        raise DecisionError(f"{what} may not hold the character U+{ord(odd[0]):04X}")
    return text


_NO_TEXT = {"Cc", "Cs"}  # control characters and halves of surrogate pairs

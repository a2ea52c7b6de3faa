"""Whether a decision still holds, read with two statements: only its own combination is looked at."""

from __future__ import annotations

from sqlalchemy import Engine

from experiments.deciding.validity import Validity, judge
from experiments.reading import LoadedSweep
from store import reads
from store.reads_history import combination
from store.tables import DecisionRow, SweepRow


def judged(engine: Engine, decision: DecisionRow, sweep: SweepRow | None) -> Validity | None:
    """Judge a decision on a finished sweep; None where there is none."""
    if sweep is None or sweep.id is None:
        return None
    row = combination(engine, sweep.id, decision.combination)
    recorded = row is not None and row.state == "recorded" and row.id is not None
    outcomes = reads.outcomes(engine, sweep.id, [row.id]) if recorded and row and row.id else {}
    return judge(decision, LoadedSweep(sweep, [row] if row else [], {}, outcomes))

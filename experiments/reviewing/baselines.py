"""A baseline in a file: one side of a comparison, self-contained, small enough to be committed, checked when read.

Version 1 is JSON: the sweep's conditions, the decision in force, its combinations, and one line a question with what
each combination did with it, so that a difference of two files reads as a difference of questions. An outcome is
`[rank, nearest distance]`; the rank is null where the needle was not returned and "destroyed" where no chunk holds it
whole; null stands for an outcome that is missing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from corpus.faults import Fault
from experiments.reviewing.sides import Line, Side
from store.reads_compare import RankRecord
from store.tables import CombinationRow, QueryRow, SweepRow

FORMAT, VERSION = "bluffline baseline", 1
_SWEEP = (
    *("key", "fingerprint", "state", "commit", "branch", "tag", "dirty", "patch_hash", "corpus_hash", "questions_hash"),
    *("hit_rule", "pipeline", "documents", "needles", "answerable", "near", "far", "settings", "versions"),
)
_TIMES = ("created_at", "author_date")
_COMBINATION = ("key", "strategy", "retriever", "model", "scorer", "state", "reason", "measured_in")
_MODEL = ("name", "files", "dimensions", "window", "precision")
_QUESTION = (
    *("text", "phrasing", "stratum", "needle_id", "needle", "document", "start", "end", "needles", "require"),
    "relevant",
)
_DESTROYED = "destroyed"
_PLACES = 6  # of a distance, as they are recorded


class BaselineError(Exception):
    """A baseline file that cannot be used; the message names file, line and what to do."""

    def __init__(self, file: Path, problem: str, line: int | None = None, value: str = "") -> None:
        """Tell it as every other fault is told."""
        advice = "Write it anew with `bluffline gate --save-baseline`."
        super().__init__(Fault(str(file), line, value, problem, advice).sentence)


def write_baseline(side: Side, line: Line | None) -> str:
    """A side as the text of a baseline file.

    Args:
        side: A finished sweep.
        line: The decision in force.
    """
    recorded = [row for row in side.combinations if row.key in side.outcomes]
    found = {key: {one.query_id: one for one in ranks} for key, ranks in side.outcomes.items()}
    head = {
        "format": FORMAT,
        "version": VERSION,
        "sweep": {name: getattr(side.sweep, name) for name in _SWEEP}
        | {name: _moment(getattr(side.sweep, name)) for name in _TIMES},
        "decision": line._asdict() if line else None,
    }
    combinations = [_combination(row) for row in side.combinations]
    questions = [
        {"id": row.query_id}
        | {name: getattr(row, name) for name in _QUESTION if getattr(row, name) is not None}
        | {"outcomes": [_outcome(found[each.key].get(row.query_id)) for each in recorded]}
        for row in side.asked
    ]
    return _laid_out(head, combinations, questions)


def read_baseline(file: Path) -> Side:
    """Read a baseline file.

    Raises:
        BaselineError: If it is not there, is no baseline, was made by a newer version, or was changed by hand.
    """
    try:
        content = json.loads(file.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise BaselineError(file, f"the baseline cannot be read: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        raise BaselineError(file, f"not readable as JSON: {error.msg}", error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise BaselineError(file, "not readable as JSON in UTF-8") from error
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise BaselineError(file, "this is no baseline of Bluffline")
    if content.get("version") != VERSION:
        problem = f"it is of another version than the {VERSION} that this Bluffline reads"
        raise BaselineError(file, problem, 3, str(content.get("version")))
    try:
        side = _side(file, content)
        written = _laid_out(
            {name: content[name] for name in ("format", "version", "sweep", "decision")},
            content["combinations"],
            content["questions"],
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise BaselineError(file, f"something in it is missing or of another kind ({error})") from error
    if json.loads(written)["sha256"] != content.get("sha256"):
        raise BaselineError(file, "its content is not what its sha256 says: it was changed by hand, or merged")
    return side


def _laid_out(head: Mapping[str, Any], combinations: list[Any], questions: list[Any]) -> str:
    """One line a combination and a question, and a hash over all of it."""
    digest = hashlib.sha256(_json([head, combinations, questions], sort=True).encode()).hexdigest()
    parts = [f' "{name}": {_json(value, indent=1 if name in ("sweep", "decision") else None)}'
             for name, value in {**head, "sha256": digest}.items()]  # fmt: skip
    for name, rows in (("combinations", combinations), ("questions", questions)):
        parts.append(f' "{name}": [\n' + ",\n".join(f"  {_json(row)}" for row in rows) + "\n ]")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _json(value: Any, *, sort: bool = False, indent: int | None = None) -> str:
    written = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=sort, indent=indent)
    return written.replace("\n", "\n ")


def _combination(row: CombinationRow) -> dict[str, Any]:
    model = row.stamp.get("model") or {}
    times = row.stamp.get("milliseconds") or {}
    return {name: getattr(row, name) for name in _COMBINATION} | {
        "stamp": {
            "model": {name: model[name] for name in _MODEL if name in model},
            "milliseconds": {stage: [round(float(one), 3) for one in each] for stage, each in times.items()},
        }
    }


def _outcome(one: RankRecord | None) -> list[Any] | None:
    if one is None:
        return None
    return [_DESTROYED if one.destroyed else one.rank, None if one.nearest is None else round(one.nearest, _PLACES)]


def _moment(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).isoformat()


def _side(file: Path, content: Mapping[str, Any]) -> Side:
    facts = dict(content["sweep"])
    times: dict[str, Any] = {name: datetime.fromisoformat(facts[name]) if facts[name] else None for name in _TIMES}
    sweep = SweepRow(**{name: facts[name] for name in _SWEEP}, **times)
    combinations = [
        CombinationRow(sweep_id=0, position=place, stamp=row["stamp"], **{name: row[name] for name in _COMBINATION})
        for place, row in enumerate(content["combinations"])
    ]
    asked = [
        QueryRow(questions_hash=sweep.questions_hash, query_id=row["id"], position=place,
                 **{name: row.get(name) for name in _QUESTION})
        for place, row in enumerate(content["questions"])
    ]  # fmt: skip
    ids = [row.query_id for row in asked]
    if len(set(ids)) != len(ids):
        raise ValueError("a question stands there twice")
    recorded = [row.key for row in combinations if row.state == "recorded"]
    outcomes: dict[str, list[RankRecord]] = {key: [] for key in recorded}
    for row in content["questions"]:
        for key, one in zip(recorded, row["outcomes"], strict=True):
            if one is not None:
                outcomes[key].append(_rank(row["id"], *one))
    decision = content["decision"]
    line = None if decision is None else Line(**{**decision, "strata": tuple(decision["strata"])})
    return Side(file.name, sweep, combinations, asked, outcomes, line)


def _rank(query_id: str, rank: Any, nearest: Any) -> RankRecord:
    if rank not in (None, _DESTROYED) and (not isinstance(rank, int) or isinstance(rank, bool) or rank < 1):
        raise ValueError(f"a rank is {rank!r}")
    if nearest is not None and not 0 <= float(nearest) <= 2:
        raise ValueError(f"a distance is {nearest!r}")
    destroyed = rank == _DESTROYED
    return RankRecord(query_id, None if destroyed else rank, destroyed, None if nearest is None else float(nearest))

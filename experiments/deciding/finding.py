"""The combination that somebody names, by its key or by its parts; where it is not there, what is."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from experiments.deciding.evidence import DecisionError
from experiments.reading import LoadedSweep
from experiments.words import listed
from store.tables import CombinationRow


def find_combination(
    loaded: LoadedSweep,
    key: str | None = None,
    *,
    strategy: str | None = None,
    retriever: str | None = None,
    model: str | None = None,
    scorer: str | None = None,
) -> CombinationRow:
    """The one combination that fits what is given; by its key or by its parts.

    Raises:
        DecisionError: If none fits, several do, or the one that fits has no numbers; it says what there is instead.
    """
    wanted = {"strategy": strategy, "retriever": retriever, "model": model, "scorer": scorer, "key": key}
    given = {name: value for name, value in wanted.items() if value is not None}
    rows: Sequence[CombinationRow] = loaded.combinations
    sweep, fits = f"sweep {loaded.sweep.id}", ""
    for name, value in given.items():
        fitting = [row for row in rows if getattr(row, name) == value]
        if not fitting:
            raise DecisionError(f"{sweep} has no {_called(name)} {value!r}{fits}; {_instead(name, value, rows)}")
        rows, fits = fitting, f"{fits} {'and' if fits else 'with'} {_called(name)} {value!r}"
    if not rows:
        raise DecisionError(f"{sweep} has no combinations")
    if len(rows) > 1:
        name = next(name for name in wanted if name not in given and len(_values(name, rows)) > 1)
        many = f"{len(rows)} combinations{fits}"
        raise DecisionError(f"{sweep} has {many}; name its {_called(name)} too: {listed(_values(name, rows), 'or')}")
    row = rows[0]
    if row.state != "recorded":
        reason = f" ({row.reason})" if row.reason else ""
        raise DecisionError(f"{row.key} has no numbers in {sweep}: it is {row.state}{reason}")
    return row


def _called(name: str) -> str:
    return "combination" if name == "key" else name


def _values(name: str, rows: Sequence[CombinationRow]) -> list[str]:
    """What a part of a combination is in some of them, in grid order."""
    return list(dict.fromkeys(value for row in rows if (value := getattr(row, name)) is not None))


def _instead(name: str, value: str, rows: Sequence[CombinationRow]) -> str:
    there = _values(name, rows)
    if name == "key":
        near = get_close_matches(value, there, cutoff=0.5)
        return f"near it is {listed(near, 'or')}" if near else f"it has {len(there)}, and `bluffline show` lists them"
    return f"it has {listed(there)}" if there else "it has none"

"""What must be said beside the numbers of a team's own retriever: how asking it went, and what could be located."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from experiments.naming import parts_of
from experiments.own.responses import CANNOT_BE_JUDGED, Tally
from experiments.words import listed, plural
from store.tables import CombinationRow


def tally_of(row: CombinationRow) -> Tally | None:
    """How the requests of a combination went; None where none were made."""
    own = row.stamp.get("own")
    return None if own is None else Tally(*(own["tally"][name] for name in Tally._fields))


def on_own(rows: Sequence[CombinationRow]) -> list[str]:
    """Sentences on each retriever of one's own in a sweep, whether it could be judged or not."""
    said = []
    for row in rows:
        own = row.stamp.get("own")
        if own is None:
            continue
        name = parts_of(row.key).retriever
        if row.state == CANNOT_BE_JUDGED:
            said.append(f"{name} ({own['asks']}) cannot be judged: {row.reason}.")
        else:
            said += [f"{name} ({own['asks']}): {on_answered(row)}", *_located(name, own), *_chunks(name, own)]
    return said


def on_answered(row: CombinationRow) -> str:
    """How many questions a recorded retriever of one's own answered, and what became of the others."""
    own, went = row.stamp["own"], tally_of(row)
    words = went.words if went else ""
    if went is None or not went.failed:
        return f"{words}."
    sides = [f"{own[side]['answered']:,} of {own[side]['asked']:,} {side}" for side in ("answerable", "unanswerable")]
    return (
        f"{words}. Its numbers are of {listed(sides)} questions; those without an answer count as neither found nor "
        "missed, refused nor bluffed."
    )


def _located(name: str, own: Mapping[str, Any]) -> list[str]:
    ways = own["located"]
    total = sum(ways.values())
    if not total:
        return []
    words = {
        "offsets": "by the offsets they came with",
        "text": "by their words",
        "not located": "stand nowhere in the documents (not located)",
        "ambiguous": "stand at several places (ambiguous)",
    }
    parts = [f"{ways[way]:,} {said}" for way, said in words.items() if ways[way]]
    lost = ways["not located"] + ways["ambiguous"]
    rule = "; a text of those is a hit only where it holds a needle's words whole" if lost else ""
    return [f"Of {plural(total, 'text')} {name} returned, {listed(parts)}{rule}."]


def _chunks(name: str, own: Mapping[str, Any]) -> list[str]:
    window = f"what the encoder of {name} cuts off is not known"
    if own["chunks_known"]:
        return [f"{window[:1].upper()}{window[1:]}."]
    return [f"Which answers the chunks of {name} destroy is not known, as it gives no chunk table; {window}."]

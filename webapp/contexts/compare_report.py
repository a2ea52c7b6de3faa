"""The whole comparison in one file: Markdown to paste into a review, JSON for a script."""

from __future__ import annotations

from typing import Any

from webapp.contexts import compare_tables
from webapp.contexts.compare import Choice, CompareContext, Facts
from webapp.contexts.compare_tables import Line
from webapp.exports import Column, Table
from webapp.filters import NONE, decimal, interval, p_value, signed


def markdown(context: CompareContext, facts: Facts) -> str:
    """Verdict, what differs, what broke, and the combinations that changed."""
    parts = [f"## Sweep {facts.before.id} against sweep {facts.after.id} at R@{context.choice.k}", context.verdict]
    parts += [*context.asides, *context.incomplete]
    if context.differences:
        parts += ["### What prevents more", _differences(context.differences)]
    broken = [flip for flip in context.flips if flip.broken]
    if context.paired:
        parts.append(f"### Broken ({len(broken)})")
        parts.append(_flips(broken) if broken else "No question broke.")
        fixed = [flip for flip in context.flips if not flip.broken]
        parts += [f"### Only fixed ({len(fixed)})", _flips(fixed)] if fixed else []
    moved = [line for line in context.lines if line.fixed or line.broken or not context.paired]
    parts += ["### Combinations", _lines(moved) if moved else "Every combination finds the same questions as before."]
    if facts.missing:
        parts += ["### Not compared", "\n".join(f"- {name}: {why}" for name, why in facts.missing)]
    if facts.settings:
        parts += ["### Settings and versions", _differences(context.settings)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def record(context: CompareContext, facts: Facts, choice: Choice) -> dict[str, Any]:
    """The same as data; numbers as numbers, null where there is none."""
    return {
        "a": facts.before.id,
        "b": facts.after.id,
        "k": choice.k,
        "claim": facts.may.claim,
        "verdict": context.verdict,
        "asides": list(context.asides),
        "differences": [one._asdict() for one in context.differences],
        "settings": [one._asdict() for one in context.settings],
        "shared_questions": len(facts.may.shared),
        "alpha": facts.alpha,
        "combinations": [_line(line) for line in context.lines],
        "questions": [
            {
                "query_id": flip.query_id, "text": flip.text, "phrasing": flip.phrasing, "broken": flip.broken,
                "fixed": flip.fixed,
                "moves": [{"combination": m.key, "before": m.before, "after": m.after} for m in flip.moves],
            }
            for flip in context.flips
        ],
        "not_compared": [{"combination": name, "why": why} for name, why in facts.missing],
    }  # fmt: skip


def _line(line: Line) -> dict[str, Any]:
    return {
        "combination": line.key,
        "before": line.before._asdict(),
        "after": line.after._asdict(),
        "fixed": line.fixed,
        "broken": line.broken,
        "unchanged": line.unchanged,
        "n": line.n,
        "difference": line.difference._asdict(),
        "p": line.p,
        "holm_p": line.holm_p,
        "needle_p": line.needle_p,
        "reading": line.reading,
    }


def _lines(lines: list[Line]) -> str:
    columns = tuple(
        Column(name, label)
        for name, label in (
            ("name", "Combination"), ("before", "Before"), ("after", "Now"), ("fixed", "Fixed"), ("broken", "Broken"),
            ("difference", "Difference"), ("p", "p"), ("holm", "Holm p"), ("reading", "Reading"),
        )
    )  # fmt: skip
    rows = tuple(
        (
            line.name, decimal(line.before.value), decimal(line.after.value), line.fixed, line.broken,
            f"{signed(line.difference.value, 2)} {interval(line.difference)}".strip(), p_value(line.p),
            p_value(line.holm_p), line.reading,
        )
        for line in lines
    )  # fmt: skip
    return Table("combinations", columns, rows).markdown()


def _flips(flips: list[compare_tables.FlipRow]) -> str:
    columns = (Column("question", "Question"), Column("asked", "Asked"), Column("moved", "Rank before → now"))
    rows = tuple((flip.query_id, flip.text, moves(flip)) for flip in flips)
    return Table("questions", columns, rows).markdown()


def moves(flip: compare_tables.FlipRow) -> str:
    """`E dense 3 → 27, E hybrid 2 → -, and 4 more`."""
    said = [f"{move.name} {move.before or NONE} → {move.after or NONE}" for move in flip.moves]
    return ", ".join(said) + (f", and {flip.more} more" if flip.more else "")


def _differences(differences: Any) -> str:
    columns = (Column("what", "What"), Column("before", "Before"), Column("after", "Now"))
    return Table("differences", columns, tuple((one.what, one.before, one.after) for one in differences)).markdown()

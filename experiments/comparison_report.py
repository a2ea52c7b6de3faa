"""A comparison of two sides as one report: text for a terminal, Markdown for a review, JSON for a script."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from experiments.naming import name_of
from experiments.reviewing.bluff_changes import BluffChange, BluffFlip
from experiments.reviewing.comparing import Compared
from experiments.reviewing.flips import Difference
from experiments.reviewing.sides import Side
from experiments.reviewing.whole_comparison import Comparison, Move, moves
from experiments.sections import Section, as_markdown, as_text
from experiments.stats.intervals import MeanInterval, Proportion
from experiments.verdicts import bluff_changes as verdicts_bluffs
from experiments.verdicts import compare as verdicts_compare
from experiments.words import NOTHING, interval, p_value

MOVES_SHOWN = 3  # combinations of one question, in text; data has them all


def text(comparison: Comparison) -> str:
    """For a terminal."""
    return as_text(sections(comparison))


def markdown(comparison: Comparison, level: int = 2) -> str:
    """To paste into a review."""
    return as_markdown(sections(comparison), level)


def verdicts(comparison: Comparison) -> tuple[str, ...]:
    """What may be claimed, what changed, what became of the bluffs, and what is incomplete: in plain sentences."""
    one = comparison
    names = one.names
    changed = verdicts_compare.on_changes(one.found, one.may, one.k, one.alpha, lambda key: names[key])
    return (
        verdicts_compare.on_comparability(one.may, one.before.name, one.after.name),
        *changed.sentences,
        *bluff_sentences(one),
        *incomplete(one),
    )


def bluff_sentences(one: Comparison) -> tuple[str, ...]:
    """What became of the bluffs."""
    names = one.names
    return verdicts_bluffs.on_bluffs(one.bluffs, one.may, one.alpha, lambda key: names.get(key, name_of(key)))


def incomplete(one: Comparison) -> tuple[str, ...]:
    """Which side has not all of its numbers."""
    return tuple(
        f"{side.name.capitalize()} {'is' if side.sweep.state == 'running' else 'was'} {side.sweep.state}: "
        "what it recorded is compared."
        for side in (one.before, one.after)
        if side.sweep.state != "finished"
    )


def provenance(side: Side) -> str:
    """`sweep 3: commit 0a1b2c3d4e5f, tag v1, branch main, with uncommitted changes, 2026-05-04`."""
    row = side.sweep
    parts = [
        f"commit {row.commit[:12]}" if row.commit else "no commit",
        f"tag {row.tag}" if row.tag else "",
        f"branch {row.branch}" if row.branch else "",
        "with uncommitted changes" if row.dirty else "",
        f"{row.created_at:%Y-%m-%d}",
    ]
    return f"{side.name}: {', '.join(part for part in parts if part)}"


def sections(one: Comparison) -> Iterator[Section]:
    """The report."""
    names = one.names
    heading = f"{one.before.name} against {one.after.name} at R@{one.k}"
    yield Section(re.sub("^sweep ", "Sweep ", heading), verdicts(one), [provenance(one.before), provenance(one.after)])
    if one.may.differences:
        yield _differences("What prevents more", one.may.differences)
    paired = one.may.claim != "nothing"
    if paired:
        moved = moves(one.found)
        broken = {query: each for query, each in moved.items() if each[0].broken}
        fixed = {query: each for query, each in moved.items() if not each[0].broken}
        yield _questions(one, f"Broken ({len(broken)})", broken, "No question broke.")
        if fixed:
            yield _questions(one, f"Only fixed ({len(fixed)})", fixed, "")
    if one.bluffs.found:
        yield from _bluffs(one)
    yield _combinations(one, names) if paired else _side_by_side(one, names)
    if one.missing:
        yield Section("Not compared", items=[f"{name}: {why}" for name, why in one.missing])
    if one.settings:
        yield _differences("Settings and versions", one.settings)


def _differences(title: str, differences: Sequence[Difference]) -> Section:
    rows = [(one.what, one.before, one.after) for one in differences]
    return Section(title, header=("What", "Before", "Now"), rows=rows)


def _questions(one: Comparison, title: str, moved: dict[str, list[Move]], none: str) -> Section:
    rows = [(query, one.may.shared[query].text, _moves(each, one.names)) for query, each in moved.items()]
    return Section(title, [] if rows else [none], header=("Question", "Asked", "Rank before → now"), rows=rows)


def _moves(moved: Sequence[Move], names: dict[str, str]) -> str:
    """`E dense 3 → 27, E hybrid 2 → -, and 4 more`."""
    said = [f"{names[move.key]} {move.before or NOTHING} → {move.after or NOTHING}" for move in moved[:MOVES_SHOWN]]
    more = len(moved) - MOVES_SHOWN
    return ", ".join(said) + (f", and {more} more" if more > 0 else "")


def _combinations(one: Comparison, names: dict[str, str]) -> Section:
    header = (
        "Combination",
        "Before",
        "Now",
        "Fixed",
        "Broken",
        "n",
        "Difference",
        "p",
        "Holm p",
        "p by needle",
        "Reading",
    )
    rows = []
    for each in sorted(one.found, key=lambda each: not (each.change.fixed or each.change.broken)):
        change = each.change
        tests = (change.p, change.holm_p, change.needle_p) if one.may.tested else ()
        rows.append(
            (
                names[each.key], _share(each.before), _share(each.after), str(len(change.fixed)),
                str(len(change.broken)), str(change.n), _difference(change.difference),
                *((p_value(p).removeprefix("p ").removeprefix("= ") for p in tests) if tests else (NOTHING,) * 3),
                verdicts_compare.reading(each, one.may, one.alpha),
            )
        )  # fmt: skip
    note = f"R@{one.k} on {len(one.may.shared)} shared answerable questions. Difference: now minus before, 95 % by "
    note += "bootstrap over needles; p: exact two-sided sign test; Holm p: for all combinations together."
    return Section("Combinations", [note], header=header, rows=rows)


def _side_by_side(one: Comparison, names: dict[str, str]) -> Section:
    rows = [(names[key], _share(one.alone_before[key]), _share(one.alone_after[key]))
            for key in one.alone_after if key in one.alone_before]  # fmt: skip
    note = f"R@{one.k} of each side on its own questions; nothing is paired."
    return Section("Combinations", [note], header=("Combination", "Before", "Now"), rows=rows)


def _bluffs(one: Comparison) -> Iterator[Section]:
    names, line = one.names, one.bluffs.line
    rows = []
    for each in one.bluffs.found:
        tests = [p_value(p).removeprefix("p ").removeprefix("= ") for p in (each.p, each.holm_p)]
        rows.append(
            (
                names[each.key], _share(each.before), _share(each.after), str(len(each.new)), str(len(each.gone)),
                str(each.n), _difference(each.difference), *(tests if one.may.tested else (NOTHING, NOTHING)),
                verdicts_bluffs.reading(each, one.may, one.alpha),
            )
        )  # fmt: skip
    header = ("Combination", "Before", "Now", "New", "Gone", "n", "Difference", "p", "Holm p", "Reading")
    yield Section(f"Bluffs at threshold {line.threshold:g}" if line else "Bluffs", header=header, rows=rows)
    flips = [
        (names[each.key], flip.query_id, one.may.unanswerable[flip.query_id].text, said, _distances(flip))
        for each in one.bluffs.found
        for said, group in (("new", each.new), ("gone", each.gone))
        for flip in group
    ]
    if flips:
        flip_header = ("Combination", "Question", "Asked", "Bluff", "Nearest before → now")
        yield Section("Bluffs that are new or gone", header=flip_header, rows=flips)


def _distances(flip: BluffFlip) -> str:
    before, after = (NOTHING if each is None else f"{each:.3f}" for each in (flip.before, flip.after))
    return f"{before} → {after}"


def _share(share: Proportion) -> str:
    return f"{share.estimate:.2f} {interval(share.low, share.high)}" if share.estimate is not None else "- (n = 0)"


def _difference(mean: MeanInterval) -> str:
    return NOTHING if mean.mean is None else f"{mean.mean:+.2f} {interval(mean.low, mean.high)}".strip()


def record(one: Comparison) -> dict[str, Any]:
    """Everything as data, of JSON's types; null where there is no value."""
    return {
        "a": one.before.name,
        "b": one.after.name,
        "sides": [_side(one.before), _side(one.after)],
        "k": one.k,
        "claim": one.may.claim,
        "verdict": list(verdicts(one)),
        "differences": [each._asdict() for each in one.may.differences],
        "settings": [each._asdict() for each in one.settings],
        "shared_questions": len(one.may.shared),
        "shared_unanswerable": len(one.may.unanswerable),
        "alpha": one.alpha,
        "combinations": [_compared(each, one) for each in one.found],
        "side_by_side": [
            {"combination": key, "before": _plain(one.alone_before[key]), "after": _plain(share)}
            for key, share in one.alone_after.items()
            if key in one.alone_before
        ],
        "questions": [
            {
                "query_id": query, "text": one.may.shared[query].text, "phrasing": one.may.shared[query].phrasing,
                "broken": sum(move.broken for move in moved), "fixed": sum(not move.broken for move in moved),
                "moves": [
                    {"combination": move.key, "before": move.before, "after": move.after, "broken": move.broken}
                    for move in moved
                ],
            }
            for query, moved in moves(one.found).items()
        ],
        "threshold": one.bluffs.line.threshold if one.bluffs.line else None,
        "threshold_of": one.bluffs.line.words if one.bluffs.line else None,
        "bluffs": [_bluff(each, one) for each in one.bluffs.found],
        "bluffs_not_compared": [{"combination": key, "why": why} for key, why in one.bluffs.left_out.items()],
        "not_compared": [{"combination": name, "why": why} for name, why in one.missing],
    }  # fmt: skip


def _side(side: Side) -> dict[str, Any]:
    row = side.sweep
    return {
        "name": side.name, "sweep_id": row.id, "key": row.key, "commit": row.commit, "branch": row.branch,
        "tag": row.tag, "dirty": row.dirty, "state": row.state, "corpus_hash": row.corpus_hash,
        "questions_hash": row.questions_hash, "hit_rule": row.hit_rule, "pipeline": row.pipeline,
    }  # fmt: skip


def _compared(each: Compared, one: Comparison) -> dict[str, Any]:
    change, tested = each.change, one.may.tested
    return {
        "combination": each.key,
        "before": _plain(each.before),
        "after": _plain(each.after),
        "fixed": len(change.fixed),
        "broken": len(change.broken),
        "unchanged": change.unchanged,
        "n": change.n,
        "difference": change.difference._asdict(),
        "p": change.p if tested else None,
        "holm_p": change.holm_p if tested else None,
        "needle_p": change.needle_p if tested else None,
        "reading": verdicts_compare.reading(each, one.may, one.alpha),
    }


def _bluff(each: BluffChange, one: Comparison) -> dict[str, Any]:
    tested = one.may.tested
    return {
        "combination": each.key,
        "before": _plain(each.before),
        "after": _plain(each.after),
        "new": [flip._asdict() for flip in each.new],
        "gone": [flip._asdict() for flip in each.gone],
        "unchanged": each.unchanged,
        "n": each.n,
        "difference": each.difference._asdict(),
        "p": each.p if tested else None,
        "holm_p": each.holm_p if tested else None,
        "reading": verdicts_bluffs.reading(each, one.may, one.alpha),
    }


def _plain(share: Proportion) -> dict[str, float | int | None]:
    return {"value": share.estimate, "low": share.low, "high": share.high, "hits": share.hits, "n": share.n}

"""Two sweeps side by side: what may be claimed of them, on which questions, and what each combination gained and lost.

How much may be claimed depends on what differs:

- nothing: everything is compared, and a paired test says whether a combination changed;
- the questions: the same, on the answerable questions that both sets ask in the same words for the same needle;
- the documents or the pipeline: what was fixed and what broke is counted on the shared questions, but no test is made
  and nothing is called a change of a combination, because the documents (or the measuring) may be the cause;
- the hit rule, or every question: numbers stand side by side, and no question is paired.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, Literal, NamedTuple, Protocol

from experiments.reviewing.flips import Change, Difference, changes, differences
from experiments.reviewing.wordings import WORDING
from experiments.stats.intervals import Proportion, wilson
from experiments.stats.resolution import Resolution, resolution
from store.needle_spans import needle_spans
from store.reads import OutcomeRecord
from store.tables import CombinationRow, QueryRow, SweepRow

Claim = Literal["all", "shared", "counts", "nothing"]

PREVENTS = {
    "corpus_hash": "documents",
    "questions_hash": "questions",
    "hit_rule": "hit rule",
    "pipeline": "pipeline",
}
_HASH_SHOWN = 12  # characters
_SPELLED_OUT = 4  # numbers of a list; more that are evenly spaced are said by their ends and their step


class Ranked(Protocol):
    """Where one combination found one question's needle."""

    @property
    def query_id(self) -> str: ...  # noqa: D102
    @property
    def rank(self) -> int | None: ...  # noqa: D102
    @property
    def destroyed(self) -> bool | None: ...  # noqa: D102


class Comparability(NamedTuple):
    """What may be claimed of two sweeps.

    Attributes:
        claim: How much.
        differences: What prevents more.
        shared: Answerable questions that both asked, by id, in the order of the later set.
        unanswerable: Unanswerable questions that both asked, likewise.
        before: Answerable questions of the earlier sweep.
        after: Answerable questions of the later one.
    """

    claim: Claim
    differences: tuple[Difference, ...]
    shared: Mapping[str, QueryRow]
    unanswerable: Mapping[str, QueryRow]
    before: int
    after: int

    @property
    def tested(self) -> bool:
        """Whether a paired test may be made."""
        return self.claim in ("all", "shared")


class Compared(NamedTuple):
    """One combination of both sweeps."""

    change: Change
    before: Proportion  # R@k on the shared questions
    after: Proportion
    resolution: Resolution  # what so many discordant questions could resolve among so many combinations

    @property
    def key(self) -> str:
        """The combination."""
        return self.change.key


def comparability(
    before: SweepRow, after: SweepRow, asked_before: Sequence[QueryRow], asked_after: Sequence[QueryRow]
) -> Comparability:
    """What may be claimed of two sweeps.

    A question is shared when both sets ask it under the same id in the same words for the same needle. Where the
    documents differ a needle may have moved, so that its words and its document are what counts; a set that differs by
    such moves only was changed by nobody, and is not said to have changed.
    """
    found = differences(_conditions(before), _conditions(after), PREVENTS, ())
    moved = any(difference.what == PREVENTS["corpus_hash"] for difference in found)
    if moved and _set(asked_before) == _set(asked_after):
        found = [difference for difference in found if difference.what != PREVENTS["questions_hash"]]
    different = {difference.what for difference in found}
    earlier = {row.query_id: row for row in asked_before if row.needle_id is not None}
    later = [row for row in asked_after if row.needle_id is not None]
    shared = {
        row.query_id: row
        for row in later
        if row.query_id in earlier and _identity(row, moved=moved) == _identity(earlier[row.query_id], moved=moved)
    }
    refused = {(row.query_id, row.text, row.stratum) for row in asked_before if row.needle_id is None}
    unanswerable = {
        row.query_id: row
        for row in asked_after
        if row.needle_id is None and (row.query_id, row.text, row.stratum) in refused
    }
    claim: Claim = "all"
    if "hit rule" in different or not shared:
        claim = "nothing"
    elif different & {"documents", "pipeline"}:
        claim = "counts"
    elif "questions" in different:
        claim = "shared"
    if claim == "nothing":
        shared, unanswerable = {}, {}
    return Comparability(claim, tuple(found), shared, unanswerable, len(earlier), len(later))


def compared(
    may: Comparability,
    before: Mapping[str, Sequence[Ranked]],
    after: Mapping[str, Sequence[Ranked]],
    k: int,
    *,
    alpha: float,
    seed: int,
) -> list[Compared]:
    """Every combination both sweeps have recorded, on the questions they share.

    Args:
        may: What may be claimed.
        before: Ranks by combination key.
        after: The same of the later sweep.
        k: Depth.
        alpha: Significance level of the family of all combinations.
        seed: Of the bootstrap.

    Returns:
        In the order of `after`; none where nothing may be paired.
    """
    if not may.shared:
        return []
    both = {
        key: {one.query_id for one in before[key]} & {one.query_id for one in found} & may.shared.keys()
        for key, found in after.items()
        if key in before
    }
    old, new = _on_shared(before, may.shared, both), _on_shared(after, may.shared, both)
    found = changes(old, new, k, seed)
    return [
        Compared(
            change,
            _found(old[change.key], k),
            _found(new[change.key], k),
            resolution(len(change.fixed) + len(change.broken), alpha, len(found)),
        )
        for change in found
    ]


def side_by_side(ranks: Mapping[str, Sequence[Ranked]], asked: Sequence[QueryRow], k: int) -> dict[str, Proportion]:
    """R@k of each combination on all answerable questions of its own sweep."""
    answerable = {row.query_id for row in asked if row.needle_id is not None}
    return {key: _found([one for one in found if one.query_id in answerable], k) for key, found in ranks.items()}


def settings_differences(
    before: SweepRow,
    after: SweepRow,
    combinations_before: Sequence[CombinationRow],
    combinations_after: Sequence[CombinationRow],
) -> list[Difference]:
    """Settings, models and versions that are not the same; none of them prevents a comparison, all may explain it."""
    old = dict(_facts(before, combinations_before))
    new = dict(_facts(after, combinations_after))
    return differences(old, new, {}, list(dict.fromkeys([*old, *new])))


def _conditions(sweep: SweepRow) -> dict[str, str]:
    questions = sweep.answerable + sweep.near + sweep.far
    return {
        "corpus_hash": f"{sweep.corpus_hash[:_HASH_SHOWN]} ({sweep.documents})",
        "questions_hash": f"{sweep.questions_hash[:_HASH_SHOWN]} ({questions})",
        "hit_rule": sweep.hit_rule,
        "pipeline": sweep.pipeline,
    }


def _identity(row: QueryRow, *, moved: bool) -> tuple[object, ...]:
    """What makes a question the same one on both sides; where needles may have moved, without their places."""
    needles = needle_spans(row)
    judged = [(one["document"], one["grade"]) for one in row.relevant or ()]
    places = () if moved else (row.needle_id,)
    return (row.text, row.require, tuple((one.document, one.text) for one in needles), tuple(judged), *places)


def _set(asked: Sequence[QueryRow]) -> set[tuple[object, ...]]:
    """A question set without the places of its needles."""
    return {(row.query_id, row.phrasing, row.stratum, *_identity(row, moved=True)) for row in asked}


def _on_shared(
    ranks: Mapping[str, Sequence[Ranked]], shared: Mapping[str, QueryRow], both: Mapping[str, Collection[str]]
) -> dict[str, list[OutcomeRecord]]:
    """Outcomes of the questions both sides have one of, with the later needle ids: both then name a needle alike."""
    return {
        key: [
            OutcomeRecord(0, one.query_id, shared[one.query_id].needle_id, shared[one.query_id].phrasing, None,
                          one.rank, one.destroyed, False, None, None, None, None, None)
            for one in ranks[key]
            if one.query_id in asked
        ]
        for key, asked in both.items()
    }  # fmt: skip


def _found(outcomes: Sequence[Ranked], k: int) -> Proportion:
    return wilson(sum(one.rank is not None and one.rank <= k for one in outcomes), len(outcomes))


def _facts(sweep: SweepRow, combinations: Sequence[CombinationRow]) -> Iterator[tuple[str, str]]:
    """Everything that may explain a difference, by name and in words."""
    yield (
        "commit",
        f"{sweep.commit[:_HASH_SHOWN]}{' with uncommitted changes' if sweep.dirty else ''}" if sweep.commit else "-",
    )
    for name, value in sweep.settings.items():
        if name == WORDING:  # of the questions, which are compared one by one
            continue
        if isinstance(value, dict):
            yield from ((f"{_SETTING_WORDS.get(name, name)} {key}", str(each)) for key, each in value.items())
        else:
            yield _SETTING_WORDS.get(name, name), _written(value)
    for row in combinations:
        model = row.stamp.get("model") or {}
        if model.get("name"):
            files = str(model.get("files", "-"))[:_HASH_SHOWN]
            yield f"model {model['name']}", f"files {files}, {model.get('precision')}, window {model.get('window')}"
    yield from ((f"version of {name}", version) for name, version in sweep.versions.items())


_SETTING_WORDS = {
    "strategies": "strategy",
    "left_out": "questions and documents left out",
    "failed_documents": "documents that could not be read",
    "bm25": "BM25",
    "hybrid": "fusion",
}


def _written(value: Any) -> str:
    if not isinstance(value, list):
        return str(value)
    if len(value) > _SPELLED_OUT and all(isinstance(one, (int, float)) for one in value):
        steps = {round(after - before, 9) for before, after in pairwise(value)}
        if len(steps) == 1:
            return f"{value[0]:g} to {value[-1]:g} in steps of {steps.pop():g}"
    return ", ".join(str(one["file"] if isinstance(one, dict) else one) for one in value)

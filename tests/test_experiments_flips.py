"""Two sweeps, before and after."""

from typing import NamedTuple

import pytest
from scipy import stats

from experiments.reviewing.flips import changes, differences


class One(NamedTuple):
    """An outcome with a rank and nothing else of interest."""

    query_id: str
    needle_id: str | None
    rank: int | None
    phrasing: str | None = None
    stratum: str | None = None
    destroyed: bool = False
    truncated: bool = False
    quotable: bool | None = None
    nearest: float | None = None
    needle_distance: float | None = None
    chunk_distance: float | None = None
    gap: float | None = None


def sweep(*ranks: int | None) -> dict[str, list[One]]:
    return {"E/bm25": [One(f"q{number}", f"n{number}", rank) for number, rank in enumerate(ranks)]}


def test_fixed_and_broken_questions_are_told_apart_with_their_ranks() -> None:
    (change,) = changes(sweep(1, None, 3, 30), sweep(25, 2, 3, None), k=20, seed=1)
    assert [(flip.query_id, flip.before, flip.after) for flip in change.fixed] == [("q1", None, 2)]
    assert [(flip.query_id, flip.before, flip.after) for flip in change.broken] == [("q0", 1, 25)]
    assert (change.unchanged, change.n) == (2, 4)
    assert change.difference.mean == 0
    assert change.p == 1


def test_the_test_is_the_exact_sign_test_on_the_flips() -> None:
    (change,) = changes(sweep(*[None] * 9, 1), sweep(*[1] * 9, None), k=20, seed=1)
    assert change.p == pytest.approx(stats.binomtest(9, 10).pvalue)
    assert change.difference.mean == pytest.approx(0.8)
    low, high = change.difference.low, change.difference.high
    assert low is not None
    assert high is not None
    assert low < 0.8 < high


def test_only_questions_both_sweeps_asked_are_counted() -> None:
    before, after = sweep(1, 1), {"E/bm25": [One("q0", "n0", None), One("q1", "other needle", None)]}
    (change,) = changes(before, after, k=20, seed=1)
    assert change.n == 1
    assert len(change.broken) == 1


def test_combinations_that_only_one_sweep_has_are_left_out() -> None:
    assert changes({"A/bm25": []}, sweep(1), k=20, seed=1) == []


def test_holm_is_taken_over_all_combinations() -> None:
    before = {**sweep(*[None] * 8), "F/bm25": sweep(*[None] * 8)["E/bm25"]}
    after = {**sweep(*[1] * 8), "F/bm25": sweep(*[1] * 8)["E/bm25"]}
    for change in changes(before, after, k=20, seed=1):
        assert change.holm_p == pytest.approx(2 * change.p)


def test_unanswerable_questions_cannot_flip() -> None:
    (change,) = changes({"E/bm25": [One("u", None, None)]}, {"E/bm25": [One("u", None, None)]}, k=20, seed=1)
    assert change.n == 0
    assert change.difference.mean is None


def test_a_difference_that_prevents_comparing_is_named_first() -> None:
    found = differences(
        {"corpus_hash": "a", "seed": 1, "pipeline": "1"},
        {"corpus_hash": "b", "seed": 2, "pipeline": "1"},
        {"corpus_hash": "corpus", "pipeline": "pipeline version"},
        ["seed"],
    )
    assert [(one.what, one.before, one.after, one.prevents) for one in found] == [
        ("corpus", "a", "b", True),
        ("seed", "1", "2", False),
    ]

"""What a second model buys and costs: paired tests in one family, and sentences that claim no more than they show."""

from __future__ import annotations

import pytest
from scipy.stats import binomtest
from statsmodels.stats.multitest import multipletests
from worlds import found

from experiments.verdicts.gains import Gain, gains, milliseconds_of, on_gain, on_second_models, standing
from experiments.verdicts.strategies import Arm
from store.tables import MeasureRow


def arm(retriever: str, ranks: list[int | None], *, strategy: str = "E", model: str | None = "org/m") -> Arm:
    outcomes = [found(f"q{number}", f"n{number // 2}", rank) for number, rank in enumerate(ranks)]
    scorer = {"rerank": "org/x", "late": "org/c"}.get(retriever)
    return Arm(strategy, retriever, None if retriever == "late" else model, outcomes, scorer)


HYBRID = arm("hybrid", [2, 3, 1, 5, None, 2, 4, 2] * 4)
RERANK = arm("rerank", [1, 1, 1, 1, None, 1, 2, 1] * 4)
LATE = arm("late", [1, 2, 1, 5, None, 2, 4, 2] * 4)


def test_reranking_is_compared_with_the_list_it_reorders_and_late_with_the_first_models() -> None:
    other = arm("hybrid", [1] * 32, model="org/second")
    second = arm("rerank", [1] * 32, model="org/second")
    compared = gains([HYBRID, other, RERANK, second, LATE], {}, seed=1)
    assert [(one.arm.key, one.base.key) for one in compared] == [
        ("E/rerank/org/m/org/x", "E/hybrid/org/m"),
        ("E/rerank/org/second/org/x", "E/hybrid/org/second"),
        ("E/late/org/c", "E/hybrid/org/m"),
    ]
    assert gains([RERANK, arm("hybrid", [1], strategy="A")], {}, seed=1) == []


def test_counts_and_p_values_are_those_of_other_implementations() -> None:
    one, two = gains([HYBRID, RERANK, LATE], {}, seed=1)
    assert (one.wins, one.losses, one.n) == (20, 0, 32)  # 1st, 2nd, 4th, 6th and 8th of each eight
    assert one.p == pytest.approx(binomtest(20, 20).pvalue)
    raw = [one.p, one.mrr_p, two.p, two.mrr_p]
    assert [one.holm_p, one.mrr_holm_p, two.holm_p, two.mrr_holm_p] == pytest.approx(
        list(multipletests(raw, method="holm")[1])
    )
    assert one.family == 4
    assert one.mrr_after - one.mrr_before == pytest.approx(one.difference.mean)
    assert one.difference.low is not None and one.difference.low > 0
    assert one.mrr_p < 0.001


def test_the_sentence_says_what_moves_what_it_costs_and_what_is_proven() -> None:
    one, _ = gains([HYBRID, RERANK, LATE], {RERANK.key: 583.4, HYBRID.key: 14.5}, seed=1)
    said = on_gain(one, 25, 0.05)
    assert said.startswith(
        "Reranking hybrid's first 25 chunks with x moves R@1 on E, m from 0.125 [0.05, 0.28] to 0.750 [0.58, 0.87] "
        "(20 won, 0 lost of 32, p < 0.0001, Holm p < 0.0001) and costs 583 ms a question, 569 ms more than without. "
        "R@1 is proven better and MRR is proven better (MRR 0.410 to 0.812, difference +0.402 ["
    )


def test_what_cannot_be_resolved_is_not_called_a_difference() -> None:
    short = [arm("hybrid", [2, 2, 1, 1]), arm("rerank", [1, 1, 1, 1])]
    said = on_gain(gains(short, {}, seed=1)[0], 25, 0.05)
    assert "its cost was not measured" in said
    assert "cannot be resolved with these questions" in said
    assert "R@1 differs on 2 questions, and at least 7 would have to." in said
    assert "proven" not in said


def test_worse_is_called_worse() -> None:
    worse = [arm("hybrid", [1] * 40), arm("rerank", [3] * 40)]
    assert "R@1 is proven worse and MRR is proven worse" in on_gain(gains(worse, {}, seed=1)[0], 25, 0.05)


def test_nothing_asked_says_so() -> None:
    (nothing,) = gains([arm("hybrid", []), arm("rerank", [])], {}, seed=1)
    assert isinstance(nothing, Gain)
    assert "was asked no answerable question" in on_gain(nothing, 25, 0.05)


def test_milliseconds_are_those_of_all_stages_and_unknown_where_none_was_timed() -> None:
    numbers = {
        name: MeasureRow(combination_id=1, name=name, value=value, n=3)
        for name, value in (("ms_embed", 10.0), ("ms_rerank", 500.5), ("mrr", 0.5))
    }
    assert milliseconds_of(numbers) == 510.5
    assert milliseconds_of({}) is None


def test_one_sentence_says_what_is_proven_first_and_what_each_costs() -> None:
    level = arm("rerank", [2, 3, 1, 5, None, 2, 4, 2] * 4)
    other = arm("hybrid", [1] * 32, model="org/second")
    second = arm("rerank", [1] * 31 + [2], model="org/second")
    times = {HYBRID.key: 10.0, other.key: 12.0, level.key: 510.0, second.key: 572.0, LATE.key: 104.0}
    found = gains([HYBRID, other, level, second, arm("late", [1] * 32)], {**times}, seed=1)
    assert on_second_models(found, 0.05) == (
        "On E, late interaction with c is proven to make R@1 and MRR better, and adds 94 ms a question; "
        "no gain is proven for reranking with x, which adds 500 to 560 ms a question."
    )
    assert [standing(gain, 0.05) for gain in found] == [
        ("", "cannot be resolved"), ("", "cannot be resolved"), ("good", "R@1 and MRR better"),
    ]  # fmt: skip


def test_embedding_models_are_named_where_a_second_model_helps_one_and_not_the_other() -> None:
    other = arm("hybrid", [1] * 32, model="org/second")
    worse = arm("rerank", [3] * 32, model="org/second")
    said = on_second_models(gains([HYBRID, other, RERANK, worse], {}, seed=1), 0.05)
    assert said == (
        "On E, reranking with x (m) is proven to make R@1 and MRR better, and costs what was not measured; "
        "reranking with x (second) is proven to make R@1 and MRR worse, and costs what was not measured."
    )
    assert on_second_models(gains([arm("hybrid", []), arm("rerank", [])], {}, seed=1), 0.05) == ""

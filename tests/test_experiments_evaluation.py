import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ir_measures import RR, Success
from worlds import BLIND, OVERLAPPING, QUERIES, SECTIONS, STRATEGIES, found, hit, indexed, retrieved, unanswerable

from experiments.evaluation import Cutting, answerable, ranks, score
from experiments.measures import registry

CUTTING = Cutting(
    chunks=10, characters=5000, tokens=1000, header_tokens=212, overlap_tokens=50, over_budget=1, over_window=2
)


def numbers(outcomes, cutting=CUTTING, milliseconds=None, ks=(1, 4, 8)):
    return {number.name: number for number in score(outcomes, cutting, milliseconds or {}, ks=ks, seed=7)}


def test_numbers_are_those_worked_out_by_hand():
    read = numbers(
        [
            found("a1", "a", 1, hits=(hit(tokens=7), hit(tokens=5))),
            found("a2", "a", 5, quotable=False, hits=(hit(tokens=1),)),
            found("b1", "b", None, None, destroyed=True),
            found("b2", "b", None, None, destroyed=True, truncated=False),
            found("c1", "c", None, 0.4, truncated=True),
            unanswerable("u", "near", 0.3),
        ],
        milliseconds={"embed": [4.0, 1.0, 2.0, 3.0, 100.0], "scan": []},
    )
    shares = {name: (read[name].hits, read[name].n) for name in ("recall_at_1", "recall_at_4", "recall_at_8")}
    assert shares == {"recall_at_1": (1, 5), "recall_at_4": (1, 5), "recall_at_8": (2, 5)}
    assert read["recall_at_8"].value == 0.4
    assert read["mrr"].value == pytest.approx((1 + 1 / 5) / 5)
    assert (read["mrr"].hits, read["mrr"].n) == (None, 5)
    assert (read["destroyed"].hits, read["destroyed"].n) == (1, 3)  # needles, not questions
    assert (read["truncated"].hits, read["truncated"].n) == (1, 3)
    assert (read["not_quotable"].hits, read["not_quotable"].n) == (1, 2)  # of what was found
    assert read["tokens_at_1"].value == pytest.approx((7 + 1) / 6)
    assert read["tokens_at_4"].value == pytest.approx((12 + 1) / 6)
    assert (read["ms_embed"].low, read["ms_embed"].value, read["ms_embed"].high) == (2.0, 3.0, 4.0)
    assert read["ms_embed"].n == 5
    assert read["ms_scan"][1:] == (None, None, None, None, 0)
    assert (read["header_share"].value, read["header_share"].hits, read["header_share"].n) == (0.212, 212, 1000)
    assert (read["over_window"].value, read["over_window"].n) == (0.2, 10)
    assert (read["chunks"].value, read["characters"].value, read["tokens"].value) == (10, 5000, 1000)


@pytest.mark.parametrize(("hits", "low", "high"), [(38, 0.471, 0.705), (53, 0.718, 0.901)])
def test_a_share_carries_its_wilson_interval(hits, low, high):
    outcomes = [found(f"q{number}", f"n{number // 2}", 1 if number < hits else None) for number in range(64)]
    share = numbers(outcomes)["recall_at_4"]
    assert (share.hits, share.n) == (hits, 64)
    assert share.value == hits / 64
    assert (share.low, share.high) == (pytest.approx(low, abs=5e-4), pytest.approx(high, abs=5e-4))


def test_every_number_is_a_known_measure_and_carries_what_it_needs():
    known = registry((1, 4), needles=False)
    for strategy in STRATEGIES:
        for retriever in ("dense", "bm25", "hybrid"):
            measured = retrieved(strategy, retriever)
            read = numbers(measured.outcomes, measured.cutting, measured.milliseconds, ks=(1, 4))
            stages = {f"ms_{stage}" for stage in measured.milliseconds}
            assert read.keys() == {name for name in known if not name.startswith(("ms_", "token_vector"))} | stages
            for name, number in read.items():
                assert number.n > 0
                if known[name].kind in ("mean", "milliseconds") or number.name.startswith("recall"):
                    assert number.low <= number.value <= number.high


def test_nothing_measured_is_never_zero():
    read = numbers([], Cutting(0, 0, 0, 0, 0, 0, 0))
    for name in ("recall_at_1", "mrr", "destroyed", "not_quotable", "tokens_at_1", "header_share", "over_window"):
        assert (read[name].value, read[name].low, read[name].high, read[name].n) == (None, None, None, 0)


def test_an_interval_by_needle_is_not_narrowed_by_asking_twice():
    once = [
        found(f"{needle}", needle, rank)
        for needle, rank in zip("abcdefgh", [1, 2, 3, 4, 1, 2, None, None], strict=True)
    ]
    twice = [*once, *[found(f"{one.query_id} again", one.needle_id or "", one.rank) for one in once]]
    assert numbers(once)["mrr"][1:4] == pytest.approx(numbers(twice)["mrr"][1:4])


@pytest.mark.parametrize("strategy", [BLIND, OVERLAPPING, SECTIONS], ids=lambda strategy: strategy.name)
@pytest.mark.parametrize("retriever", ["dense", "bm25", "hybrid"])
def test_recall_and_mrr_are_what_ir_measures_finds(strategy, retriever):
    pieces = indexed(strategy).cut
    outcomes = retrieved(strategy, retriever).outcomes
    place = {(chunk.document, chunk.start): str(number) for number, chunk in enumerate(pieces.chunks)}
    qrels = [
        ir_measures.Qrel(query.id, str(chunk), 1)
        for query, answer in zip(QUERIES, pieces.answers, strict=True)
        if query.needle
        for chunk in ([*answer.containing] or ["destroyed"])
    ]
    run = [
        ir_measures.ScoredDoc(outcome.query_id, place[one.document, one.start], -float(rank))
        for outcome in outcomes
        for rank, one in enumerate(outcome.hits)
        if outcome.needle_id
    ]
    theirs = ir_measures.calc_aggregate([RR, Success @ 1, Success @ 4], qrels, run)
    ours = numbers(outcomes, ks=(1, 4))
    assert ours["mrr"].value == pytest.approx(theirs[RR])
    assert ours["recall_at_1"].value == pytest.approx(theirs[Success @ 1])
    assert ours["recall_at_4"].value == pytest.approx(theirs[Success @ 4])


@given(st.lists(st.none() | st.integers(1, 30), min_size=1, max_size=12), st.randoms())
@settings(max_examples=20)
def test_recall_grows_with_depth_and_no_number_depends_on_the_order_of_the_questions(places, random):
    outcomes = [found(f"q{number}", f"n{number // 2}", rank) for number, rank in enumerate(places)]
    read = numbers(outcomes)
    assert read["recall_at_1"].value <= read["recall_at_4"].value <= read["recall_at_8"].value
    assert read["recall_at_1"].value <= read["mrr"].value <= 1
    shuffled = random.sample(outcomes, len(outcomes))
    for name, number in numbers(shuffled).items():
        assert number[1:] == pytest.approx(read[name][1:], nan_ok=True)


def test_answerable_outcomes_are_those_with_a_needle():
    outcomes = [found("a", "n", 3), unanswerable("u", "far", 0.2), found("b", "n", None)]
    assert [one.query_id for one in answerable(outcomes)] == ["a", "b"]
    assert ranks(answerable(outcomes)).tolist() == [3, 0]
    assert ranks([]).tolist() == []

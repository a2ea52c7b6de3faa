import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import MODEL, SECTIONS, STRATEGIES, found, retrieved, unanswerable

from experiments.pairs import compare
from experiments.stats.comparison import SignTest
from experiments.thresholds import extremes, read_thresholds
from experiments.verdicts.fusion import on_fusion
from experiments.verdicts.strategies import Arm, on_depth, on_destroyed, on_pair, on_strategies, on_threshold

ALPHA = 0.05
CLAIMS = ("beats", "finds more")


def arm(strategy, *blocks, retriever="dense", model=MODEL, destroyed=0):
    """An arm over questions in blocks of (how many, found or not), two phrasings a needle."""
    hits = [hit for count, hit in blocks for _ in range(count)]
    return Arm(
        strategy,
        retriever,
        None if retriever == "bm25" else model,
        [
            found(f"q{number}", f"n{number // 2}", 1 if hit else None, destroyed=number // 2 < destroyed)
            for number, hit in enumerate(hits)
        ],
    )


# 53 of 64 against 38 of 64 on the same questions: 18 won, 3 lost.
STRONG = arm("E", (18, 1), (3, 0), (35, 1), (8, 0))
WEAK = arm("A", (18, 0), (3, 1), (35, 1), (8, 0))
# 53 of 64 against 51 of 64: 2 won, 0 lost.
CLOSE = arm("F", (2, 0), (16, 1), (3, 0), (35, 1), (8, 0))


def test_a_proven_difference_is_said_with_its_evidence():
    verdict = on_strategies([WEAK, STRONG], 20, ALPHA)
    assert verdict.headline == (
        "With 64 questions over 32 needles, E beats A (18 won, 3 lost, Holm p = 0.0015) at R@20 with dense, "
        "finding 53 of 64 [0.72, 0.90]."
    )
    assert verdict.asides[0] == "No strategy destroys an answer: all 32 needles are whole in some chunk."
    # Needles 0 to 8 are won; 9 and 10 hold the three lost questions, 10 with a question both find.
    assert verdict.asides[1] == "Counted by needle instead of by question: E against A 9 won, 2 lost, p = 0.065."
    assert verdict.sentences == (verdict.headline, *verdict.asides)


def test_what_is_not_proven_is_said_beside_what_is():
    headline = on_strategies([WEAK, CLOSE, STRONG], 20, ALPHA).headline
    assert headline.endswith(
        "E beats A (18 won, 3 lost, Holm p = 0.0045) at R@20 with dense, finding 53 of 64 [0.72, 0.90]. "
        "It cannot be told from F."
    )


def test_where_nothing_is_proven_nothing_is_called_better():
    verdict = on_strategies([CLOSE, STRONG], 20, ALPHA)
    assert verdict.headline == (
        "With 64 questions over 32 needles, no strategy is proven better at R@20: "
        "E with dense finds most, 53 of 64 [0.72, 0.90], and cannot be told from F."
    )
    assert verdict.asides[1] == "Counted by needle instead of by question: E against F 1 won, 0 lost, p = 1.00."


def test_equals_are_not_said_to_find_most():
    twin = arm("F", (18, 1), (3, 0), (35, 1), (8, 0))
    assert on_strategies([STRONG, twin, CLOSE._replace(strategy="B")], 20, ALPHA).headline == (
        "With 64 questions over 32 needles, no strategy is proven better at R@20: "
        "E with dense finds 53 of 64 [0.72, 0.90], as many as F, and cannot be told from F and B."
    )


def test_a_single_strategy_is_compared_with_nothing():
    verdict = on_strategies([STRONG], 20, ALPHA)
    assert verdict.headline == (
        "With 64 questions over 32 needles, E with dense finds 53 of 64 [0.72, 0.90] at R@20; "
        "there is no other strategy to compare it with."
    )
    assert len(verdict.asides) == 1


NOTHING_ASKED = Arm("E", "bm25", None, [unanswerable("u", "far", 1)])


@pytest.mark.parametrize("arms", [[], [Arm("E", "dense", MODEL, [])], [NOTHING_ASKED]])
def test_where_nothing_is_measured_that_is_said(arms):
    assert on_strategies(arms, 4, ALPHA).sentences == (
        "Nothing is measured yet: no combination has an answerable question on record.",
    )
    assert on_destroyed(arms) == ""


def test_retrievers_of_the_leading_strategy_are_compared_as_a_family_of_their_own():
    bm25 = arm("E", (18, 0), (3, 1), (35, 1), (8, 0), retriever="bm25")
    hybrid = arm("E", (2, 0), (16, 1), (3, 0), (35, 1), (8, 0), retriever="hybrid")
    said = on_strategies([bm25, STRONG, hybrid, WEAK], 20, ALPHA).asides[-2:]
    assert said[0] == (
        "On E: dense finds more than bm25 at k = 20: dense 18 won, 3 lost of 64, p = 0.0015, Holm p = 0.0045."
    )
    assert said[1] == (
        "On E: dense and hybrid cannot be resolved with these questions "
        "(2 won, 0 lost of 64, p = 0.50, Holm p = 0.50): they differ on 2 questions, and at least 6 would have to."
    )


def test_models_are_named_where_there_are_several():
    strong = STRONG._replace(models_named=("one",))
    other = STRONG._replace(model="other", models_named=("other",), outcomes=WEAK.outcomes)
    said = on_strategies([strong, other], 20, ALPHA)
    assert "E with dense (one) finds" in said.headline
    assert said.asides[-1].startswith("On E: dense (one) finds more than dense (other) at k = 20: ")


def test_destroyed_needles_are_counted_once_a_strategy():
    arms = [
        arm("A", (64, 1), destroyed=9),
        arm("A", (64, 1), destroyed=9, retriever="bm25"),
        arm("B", (64, 1), destroyed=2),
        arm("E", (64, 1)),
    ]
    assert on_destroyed(arms) == (
        "A destroys 9 of 32 needles [0.16, 0.45] and B destroys 2 of 32 needles [0.02, 0.20]: "
        "no retriever, threshold or larger model can bring them back."
    )


def test_a_single_needle_is_spoken_of_as_one():
    assert on_destroyed([arm("A", (2, 1), destroyed=1)]) == (
        "A destroys 1 of 1 needle [0.21, 1.00]: no retriever, threshold or larger model can bring it back."
    )
    assert on_destroyed([arm("A", (2, 1))]) == (
        "No strategy destroys an answer: the one needle is whole in some chunk."
    )


def threshold_verdict(outcomes, threshold):
    one = Arm("E", "dense", MODEL, outcomes)
    (row,) = read_thresholds(outcomes, [threshold])
    return on_threshold(one, row, extremes(outcomes))


REFUSALS = [
    *(found(f"a{number}", f"n{number // 2}", 1, 0.3) for number in range(40)),
    *(found(f"b{number}", f"m{number // 2}", 1, 0.721) for number in range(24)),
    *(unanswerable(f"near{number}", "near", 0.497 if number < 8 else 0.9) for number in range(21)),
    *(unanswerable(f"far{number}", "far", 0.5 if number < 2 else 0.9) for number in range(9)),
]


def test_a_threshold_is_told_from_both_sides():
    assert threshold_verdict(REFUSALS, 0.675).sentences == (
        "At cosine distance 0.675, E with dense answers 40 of 64 questions [0.50, 0.73] with the needle kept and "
        "bluffs on 10 of 30 unanswerable questions [0.19, 0.51].",
        "No threshold gets both right: the worst answerable question lies 0.721 from its needle's chunk, while the "
        "nearest unanswerable one lies 0.497 from a chunk that does not answer it.",
        "It bluffs on 8 of 21 near questions [0.21, 0.59] and on 2 of 9 far questions [0.06, 0.55].",
        "It refuses 24 of 64 answerable questions [0.27, 0.50], 24 of which it would have answered rightly with no "
        "threshold.",
    )


def test_without_a_threshold_nothing_is_said_to_have_been_given_up():
    sentences = threshold_verdict(REFUSALS, None).sentences
    assert sentences[0].startswith("With no threshold, E with dense answers 64 of 64 questions ")
    assert sentences[-1] == "It refuses 0 of 64 answerable questions [0.00, 0.06]."


def test_where_a_threshold_could_get_both_right_that_is_limited_to_these_questions():
    said = threshold_verdict([found("a", "n", 1, 0.3), unanswerable("u", "far", 0.4)], 0.35).sentences
    assert said[1] == (
        "Every needle's chunk is nearer (0.300 at worst) than anything an unanswerable question finds "
        "(0.400 at best), on these questions."
    )
    assert said[2] == "It bluffs on 0 of 1 far question [0.00, 0.79]."


def test_a_side_that_was_not_asked_is_left_out():
    answers = threshold_verdict([found("a", "n", 1, 0.3)], 0.5)
    assert answers.sentences == (
        "At cosine distance 0.5, E with dense answers 1 of 1 question [0.21, 1.00] with the needle kept.",
        "It refuses 0 of 1 answerable question [0.00, 0.79].",
    )
    bluffs = threshold_verdict([unanswerable("u", "near", 0.3)], 0.5)
    assert bluffs.sentences == (
        "At cosine distance 0.5, E with dense bluffs on 1 of 1 unanswerable question [0.21, 1.00].",
        "It bluffs on 1 of 1 near question [0.21, 1.00].",
    )
    assert threshold_verdict([], 0.5).sentences == ("At cosine distance 0.5, E with dense was asked nothing.",)


def pair_of(wins, losses, ties, k=4, alpha=ALPHA):
    one = arm("one", (wins, 1), (losses, 0), (ties, 1))
    two = arm("two", (wins, 0), (losses, 1), (ties, 1))
    (pair,) = compare({"one": one.outcomes, "two": two.outcomes}, k, alpha)
    return pair


def test_a_pair_is_told_with_its_evidence_from_either_side():
    ahead = pair_of(18, 3, 43)
    assert on_pair(ahead, "one", "two") == (
        "one finds more than two at k = 4: one 18 won, 3 lost of 64, p = 0.0015, Holm p = 0.0015."
    )
    assert on_pair(ahead.reversed, "two", "one") == (
        "one finds more than two at k = 4: two 3 won, 18 lost of 64, p = 0.0015, Holm p = 0.0015."
    )


@pytest.mark.parametrize(
    ("pair", "ending"),
    [
        (pair_of(10, 3, 51), r"; about \d+ more would be needed to tell this pair alone\."),
        (pair_of(9, 9, 46), r"; at this pace no number of further questions would tell them apart\."),
        (
            pair_of(18, 6, 40)._replace(holm_p=0.07, resolved=False),
            r"; it would be resolved as the only comparison, but not among this many\.",
        ),
    ],
)
def test_a_pair_that_is_not_resolved_says_what_it_would_take(pair, ending):
    said = on_pair(pair, "one", "two")
    assert said.startswith("one and two cannot be told apart with these questions (")
    assert re.search(ending + "$", said)


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.1, 0.05, 0.01]))
@settings(max_examples=60)
def test_a_pair_is_called_better_only_when_it_is_resolved(wins, losses, alpha):
    pair = pair_of(wins, losses, 1, alpha=alpha)
    said = on_pair(pair, "one", "two")
    assert any(claim in said for claim in CLAIMS) is (pair.holm_p <= alpha)
    if pair.holm_p <= alpha:
        assert said.startswith("one finds more" if wins > losses else "two finds more")


@st.composite
def sweeps(draw):
    n = draw(st.integers(1, 24))
    hits = st.lists(st.booleans(), min_size=n, max_size=n)
    return [
        arm(strategy, *((1, hit) for hit in draw(hits)), retriever=retriever)
        for strategy in "ABE"[: draw(st.integers(1, 3))]
        for retriever in ("dense", "bm25")[: draw(st.integers(1, 2))]
    ]


@given(sweeps())
@settings(max_examples=60)
def test_no_verdict_claims_more_than_holm_s_p_allows(arms):
    """Every claim is checked against the p-values of the families it may rest on."""
    verdict = on_strategies(arms, 4, ALPHA)
    resolved = set()
    for chosen in (lambda one: (one.retriever, one.model), lambda one: (one.strategy,)):
        for group in {chosen(one) for one in arms}:
            family = {one.key: one.outcomes for one in arms if chosen(one) == group}
            resolved |= {bool(pair.resolved) for pair in compare(family, 4, ALPHA)}
    claimed = [sentence for sentence in verdict.sentences if any(claim in sentence for claim in CLAIMS)]
    if True not in resolved:
        assert claimed == []
    for sentence in claimed:
        assert all(float(p) <= ALPHA for p in re.findall(r"Holm p [=<] (\d\.\d+)", sentence))
    for sentence in verdict.sentences:
        assert sentence == sentence.strip()
        assert sentence.endswith(".")
        assert "  " not in sentence
        assert not re.search(r"None|nan|\(n = 0\)|\b1 (?:questions|needles)\b", sentence)


def test_the_small_world_is_told_without_a_claim_it_cannot_prove():
    arms = [
        Arm(strategy.name, retriever, None if retriever == "bm25" else MODEL, retrieved(strategy, retriever).outcomes)
        for strategy in STRATEGIES
        for retriever in ("dense", "bm25")
    ]
    verdict = on_strategies(arms, 4, ALPHA)
    assert verdict.headline == (
        "With 8 questions over 4 needles, no strategy is proven better at R@4: "
        f"{SECTIONS.name} with dense finds most, 8 of 8 [0.68, 1.00], and cannot be told from A and B."
    )
    assert verdict.asides[0] == (
        "A destroys 2 of 4 needles [0.15, 0.85] and B destroys 1 of 4 needles [0.05, 0.70]: "
        "no retriever, threshold or larger model can bring them back."
    )


def test_an_arm_is_named_by_what_it_is_made_of():
    assert (STRONG.key, STRONG.name) == (f"E/dense/{MODEL}", "E with dense")
    assert Arm("E", "bm25", None, []).key == "E/bm25"
    assert isinstance(pair_of(1, 0, 0).by_needle, SignTest)


def test_lists_as_deep_as_the_corpus_say_that_they_prove_nothing() -> None:
    assert on_depth({"A": 21, "E": 40}, [1, 4, 8, 20]) == ""
    assert on_depth({}, [20]) == ""
    assert on_depth({"A": 20, "E": 6}, [1, 4, 8, 20]) == (
        "A has 20 chunks and E has 6 chunks: a list as deep as that holds all of them, so R@8 and R@20 are high there "
        "by construction, whatever the retriever."
    )
    assert on_depth({"A": 6, "B": 6, "C": 5}, [8]).startswith("A and B have 6 chunks and C has 5 chunks: ")


def test_a_fusion_that_is_significantly_worse_than_one_of_its_parts_is_said_to_do_harm():
    dense, lexical = arm("E", (10, 0), (54, 1)), arm("E", (64, 1), retriever="bm25")
    fused = arm("E", (20, 0), (44, 1), retriever="hybrid")
    assert (
        on_fusion([dense, lexical, fused], 20, ALPHA)
        == (
            "Fusing does harm: E with hybrid finds less than bm25 alone at R@20 (0 won, 20 lost of 64, p < 0.0001, "
            "Holm p < 0.0001; difference -0.31 [-0.47, -0.16]). Use bm25, or give dense less weight in [hybrid].",
            "Fusing does harm: E with hybrid finds less than dense alone at R@20 (0 won, 10 lost of 64, p = 0.0020, "
            "Holm p = 0.0020; difference -0.16 [-0.28, -0.06]). Use dense, or give bm25 less weight in [hybrid].",
        )[::-1]
    )
    assert on_fusion([dense, fused], 20, ALPHA)[0] in on_strategies([dense, fused], 20, ALPHA).asides


def test_a_fusion_is_not_blamed_without_a_resolved_test():
    lexical = arm("E", (60, 1), (4, 0), retriever="bm25")
    fused = arm("E", (56, 1), (8, 0), retriever="hybrid")
    assert on_fusion([lexical, fused], 20, ALPHA) == ()
    assert on_fusion([fused], 20, ALPHA) == ()
    other = arm("E", (64, 1), retriever="dense", model="another")
    assert on_fusion([other, arm("E", (20, 0), (44, 1), retriever="hybrid")], 20, ALPHA) == ()

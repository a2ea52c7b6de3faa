import pytest
from worlds import found, unanswerable

from experiments.reviewing.fates import Fate, fate
from experiments.reviewing.winloss import compare_all
from experiments.verdicts.documents import on_corpus, on_document
from experiments.verdicts.pairs import on_pairing, on_winloss
from experiments.verdicts.queries import on_question, on_questions


def same(key):
    return key


def told(unit="question", **ranks):
    outcomes = {key: [found(f"q{i}", f"n{i}", rank) for i, rank in enumerate(each)] for key, each in ranks.items()}
    return compare_all(outcomes, 4, unit, alpha=0.05, seed=1)


def test_the_leader_beats_what_it_is_resolved_to_beat_and_no_more():
    verdict = on_winloss(told(E=[1] * 20, A=[9] * 20, F=[1] * 19 + [9]), same)
    assert verdict.headline == (
        "E finds 20 of 20 questions [0.84, 1.00] at R@4 and beats 1 of the 2 others and cannot be told from 1."
    )
    assert verdict.asides[0] == (
        "Of 3 pairs, tested as one family, 2 are resolved; 1 cannot be with these questions, because the two differ "
        "on fewer than 6 questions."
    )
    assert "E first in" in verdict.asides[1] and verdict.asides[1].endswith("and no test.")


def test_nothing_is_called_better_where_nothing_is_resolved():
    verdict = on_winloss(told(E=[1, 1, 1, 9], A=[1, 1, 9, 9]), same)
    assert verdict.headline == (
        "E finds 3 of 4 questions [0.30, 0.95] at R@4, more than any other, but nothing is proven: it cannot be told "
        "from the other."
    )
    assert not any(word in " ".join(verdict.sentences) for word in ("beats", "better"))


def test_equals_are_called_equal():
    verdict = on_winloss(told(E=[1, 9], A=[9, 1], F=[9, 9]), same)
    assert verdict.headline.startswith("E finds 1 of 2 questions [0.09, 0.91] at R@4, as many as A, but nothing is")
    assert verdict.headline.endswith("cannot be told from all 2 others.")


def test_all_others_beaten_is_said_so():
    headline = on_winloss(told(E=[1] * 20, A=[9] * 20, B=[9] * 20), same).headline
    assert headline == "E finds 20 of 20 questions [0.84, 1.00] at R@4 and beats all 2 others."


def test_one_combination_alone_and_none_at_all_are_said_so():
    assert on_winloss(told(E=[1]), same).headline.endswith("there is nothing else to compare it with.")
    assert on_winloss(None, same).headline.startswith("Nothing can be compared")


def test_a_resolved_pair_names_the_winner_whichever_side_it_is_seen_from():
    winloss = told(E=[1] * 20, A=[9] * 20)
    assert on_pairing(winloss.pairing("E", "A"), "E", "A") == (
        "E beats A at k = 4: E 20 won, 0 lost of 20 questions, p < 0.0001, Holm p < 0.0001."
    )
    assert on_pairing(winloss.pairing("A", "E"), "A", "E").startswith("E beats A at k = 4: A 0 won, 20 lost")


def test_a_pair_that_could_never_be_resolved_says_what_it_would_take():
    sentence = on_pairing(told(E=[1, 1, 9], A=[1, 9, 9]).pairing("E", "A"), "E", "A")
    assert sentence == (
        "E and A cannot be resolved with these questions: they differ on 1 question, and at least 6 would have to, "
        "all one way (E 1 won, 0 lost of 3 questions, p = 1.00, Holm p = 1.00)."
    )
    assert "they differ on no needle" in on_pairing(told("needle", E=[1], A=[1]).pairing("E", "A"), "E", "A")


def test_an_unresolved_pair_says_how_many_more_it_would_take():
    sentence = on_pairing(told(E=[1] * 7 + [9] * 3, A=[9] * 7 + [1] * 3).pairing("E", "A"), "E", "A")
    assert "cannot be told apart" in sentence
    assert "more would tell this pair alone" in sentence
    even = on_pairing(told(E=[1] * 4 + [9] * 4, A=[9] * 4 + [1] * 4).pairing("E", "A"), "E", "A")
    assert even.endswith("; at this pace no number of further ones would tell them apart.")


def test_questions_are_counted_with_their_intervals():
    kept, lost = Fate("kept", 1), Fate("below", 9)
    said = on_questions([[kept, kept], [kept, lost], [lost, lost], [Fate("bluff", None), Fate("silent", None)]], 0.5)
    assert said == (
        "At 0.5, 1 of 3 answerable questions [0.06, 0.79] keeps the answer under both combinations and 1 of 3 "
        "[0.06, 0.79] under none; 1 of 1 unanswerable question [0.21, 1.00] is bluffed on by at least one."
    )


def test_under_one_combination_questions_are_kept_or_not():
    said = on_questions([[Fate("kept", 1)], [Fate("silent", None)]], None)
    assert said == (
        "With no threshold, the answer of 1 of 1 question [0.21, 1.00] is kept; 0 of 1 unanswerable question "
        "[0.00, 0.79] is bluffed on."
    )
    assert on_questions([], 0.5).startswith("There is no question to show")


@pytest.mark.parametrize(
    ("kinds", "said"),
    [
        (["kept", "kept"], "At 0.5, both combinations keep the answer."),
        (["kept"], "At 0.5, the one combination keeps the answer."),
        (["kept", "refused", "destroyed"], "At 0.5, 1 of 3 combinations keeps the answer; under 1 the gate refuses it "
         "and under 1 the cuts destroy it."),
        (["below", "truncated"], "At 0.5, none of 2 combinations keeps the answer: under 1 it is ranked below the four "
         "the gate looks at and under 1 it lies beyond the encoder's window."),
        (["silent", "silent", "silent"], "The corpus does not answer this question. At 0.5, all 3 combinations rightly "
         "refuse."),
        (["bluff", "silent"], "The corpus does not answer this question. At 0.5, 1 of 2 combinations bluffs."),
    ],
)  # fmt: skip
def test_one_question_says_what_became_of_it(kinds, said):
    assert on_question({str(place): Fate(kind, None) for place, kind in enumerate(kinds)}, 0.5) == said


def test_a_question_nobody_recorded_says_so():
    assert on_question({}, 0.5).startswith("No combination has an outcome")


def test_fates_of_real_outcomes_read_the_same():
    fates = {"a": fate(unanswerable("u", "near", 0.4), 0.5)}
    assert on_question(fates, 0.5).endswith("At 0.5, the one combination bluffs.")


@pytest.mark.parametrize(
    ("destroyed", "needles", "said"),
    [
        ({"E": 0}, 3, "E cuts this document into 9 chunks and keeps all 3 of its needles whole."),
        ({"E": 0, "A": 1}, 2, "E cuts this document into 9 chunks and keeps both its needles whole; A destroys 1."),
        ({"E": 1}, 1, "E cuts this document into 9 chunks and destroys its one needle."),
        (
            {"E": 1, "A": 2, "B": 0},
            3,
            "E cuts this document into 9 chunks and destroys 1 of its 3 needles; A destroys 2.",
        ),
        ({"E": 0}, 0, "E cuts this document into 9 chunks; no question asks for anything in it."),
    ],
)
def test_a_document_says_what_its_cuts_destroy(destroyed, needles, said):
    assert on_document("E", 9, destroyed, needles) == said


def test_a_corpus_says_which_strategies_destroy_answers_and_where():
    assert on_corpus(13, {"A": 9, "E": 0}, 8, 32) == (
        "13 documents with 32 needles: A destroys 9 of 32 [0.16, 0.45], in 8 documents."
    )
    assert on_corpus(1, {"E": 0}, 0, 1) == "1 document with 1 needle: no strategy destroys an answer."
    assert on_corpus(2, {}, 0, 5).endswith("nothing is recorded of how strategies cut them.")

"""What is said beside the numbers of a team's own retriever."""

from worlds import combination_row

from experiments.own.responses import CANNOT_BE_JUDGED, Answer, Tally, tally
from experiments.verdicts.own import on_own


def row(state="recorded", *, timeout=0, chunks=False, reason=None, **ways):
    own = {
        "asks": "search:find, k = 20",
        "version": None,
        "tally": {"ok": 62 - timeout, "empty": 2, "timeout": timeout, "error": 0, "not_asked": 0, "n": 64},
        "answerable": {"answered": 40 - timeout, "asked": 40},
        "unanswerable": {"answered": 24, "asked": 24},
        "failures": {f"q{n}": "timeout: no answer within 10 s" for n in range(timeout)},
        "located": {"offsets": 0, "text": 0, "ambiguous": 0, "not located": 0, **ways},
        "chunks_known": chunks,
    }
    found = combination_row("own", "ours", stamp={"own": own}, reason=reason)
    found.state = state
    return found


def test_nothing_is_said_of_other_combinations():
    assert on_own([combination_row("A", "dense")]) == []


def test_it_says_how_many_questions_its_numbers_are_of():
    said = on_own([row(timeout=3, text=1200, ambiguous=2, chunks=True)])
    assert said[0].startswith(
        "ours (search:find, k = 20): 61 of 64 requests answered: 59 ok, 2 empty, 3 timeouts, 0 err"
    )
    assert "37 of 40 answerable and 24 of 24 unanswerable questions" in said[0]
    assert said[1].startswith("Of 1,202 texts ours returned, 1,200 by their words and 2 stand at several places")
    assert (
        on_own([row()])[0]
        == "ours (search:find, k = 20): 64 of 64 requests answered: 62 ok, 2 empty, 0 timeouts, 0 errors."
    )


def test_what_cannot_be_judged_has_its_reason_and_nothing_else():
    assert on_own([row(CANNOT_BE_JUDGED, timeout=9, reason="too many failed", text=3)]) == [
        "ours (search:find, k = 20) cannot be judged: too many failed."
    ]


def test_five_percent_may_fail_and_no_more():
    assert Tally(95, 0, 3, 2, 0).judged
    assert not Tally(94, 0, 3, 3, 0).judged
    assert not Tally(0, 0, 0, 0, 1).judged
    went = tally([Answer("ok"), Answer("empty"), Answer("not asked"), Answer("error")])
    assert (went.n, went.answered, went.failed, went.not_asked) == (4, 2, 2, 1)

"""Certified bounds: by hand, in their sentences, and as often true as they say, in a seeded simulation."""

import numpy as np
import pytest
from made_outcomes import outcome, question_set
from scipy import stats

from experiments.deciding.certification import (
    bounds_at,
    certify,
    jointly_certified,
    not_certifiable,
    on_certification,
    on_certifications,
)
from experiments.outcomes import Outcome

GRID = tuple(round(0.3 + 0.025 * step, 3) for step in range(21))


def _unanswerable(near: list[float], far: list[float]) -> list[Outcome]:
    return [
        *(outcome(f"near{place}", distance, stratum="near") for place, distance in enumerate(near)),
        *(outcome(f"far{place}", distance, stratum="far") for place, distance in enumerate(far)),
        outcome("q", 0.1, needle="n", kept=0.1),
    ]


def test_near_and_far_are_certified_apart() -> None:
    # 29 questions without a bluff are what "at most 10 %, 95 % sure" takes: 0.9 ** 29 = 0.047.
    outcomes = _unanswerable([0.5] * 29, [0.4] * 28)
    found = certify(outcomes, [0.3, 0.45, 0.5, 0.55], 0.1)
    assert found["near"].threshold == 0.5  # strictly under the cut: 0.5 itself is no bluff yet
    assert found["far"].threshold is None
    assert found["far"].questions_needed == 29
    assert jointly_certified(found) is None
    assert jointly_certified(found, ["near"]) == 0.5


def test_both_together_get_the_stricter_of_the_two() -> None:
    outcomes = _unanswerable([0.5] * 29, [0.4] * 29)
    assert jointly_certified(certify(outcomes, [0.3, 0.35, 0.45, 0.5], 0.1)) == 0.35


def test_the_order_of_the_thresholds_does_not_matter() -> None:
    outcomes = question_set(2)
    assert certify(outcomes, GRID, 0.3) == certify(outcomes, [*reversed(GRID), 0.3], 0.3)


def test_a_certificate_reads_as_a_promise_with_its_threshold() -> None:
    found = certify(_unanswerable([0.5] * 29, []), [0.3, 0.5], 0.1)
    assert on_certification("near", found["near"]) == (
        '"Bluffs on at most 10 % of near questions, with 95 % confidence" is certified up to cosine distance 0.5: '
        "0 of 29 are bluffed on there."
    )


def test_what_is_not_certifiable_says_with_how_many_questions_and_about_how_many_are_needed() -> None:
    said = on_certifications(certify(_unanswerable([0.5] * 21, []), [0.3], 0.1))
    assert "not certifiable with 21 questions" in said[0]
    assert "about 29 would be needed, 8 more" in said[0]
    assert "not certifiable without far questions: about 29 are needed" in said[1]


def test_where_the_strictest_threshold_bluffs_too_often_no_number_of_questions_is_named() -> None:
    found = certify(_unanswerable([0.1] * 5 + [0.9] * 15, []), [0.3], 0.1)
    assert found["near"].questions_needed is None
    assert "at that rate no number would do" in on_certification("near", found["near"])
    assert "No threshold is certified for near questions" in not_certifiable(found, ["near"])


def test_the_bound_at_a_threshold_is_the_exact_one_sided_binomial_bound() -> None:
    bounds = bounds_at(_unanswerable([0.2, 0.4, 0.6, 0.8], []), 0.5)
    near = bounds["near"]
    assert (near.bluffs, near.n) == (2, 4)
    # The largest rate at which two bluffs or fewer of four still happen one time in twenty.
    assert stats.binom.cdf(2, 4, near.upper) == pytest.approx(0.05)
    assert bounds["far"].n == 0 and bounds["far"].upper == 1
    assert "set has none" in bounds["far"].sentence


def test_no_threshold_at_all_bluffs_on_everything_that_returned_something() -> None:
    outcomes = [outcome("u", None, stratum="near"), outcome("v", 1.9, stratum="near")]
    assert bounds_at(outcomes, None)["near"].bluffs == 1


@pytest.mark.parametrize("target", [0.0, 1.0, 1.5])
def test_a_target_that_is_no_share_is_refused(target: float) -> None:
    with pytest.raises(ValueError, match=f"target must lie strictly between 0 and 1, got {target}"):
        certify(_unanswerable([0.5], [0.5]), [0.3], target)


@pytest.mark.parametrize(("near", "target"), [(21, 0.2), (60, 0.1), (60, 0.25)])
def test_the_certified_threshold_bluffs_more_than_promised_at_most_one_time_in_twenty(near: int, target: float) -> None:
    # Distances are uniform, so the true bluff rate at a threshold is known exactly: threshold / 1.2.
    rng = np.random.default_rng(near)
    runs, broken, certified = 2000, 0, 0
    for distances in rng.uniform(0, 1.2, size=(runs, near)):
        outcomes = [outcome(str(place), float(one), stratum="near") for place, one in enumerate(distances)]
        threshold = certify(outcomes, [0.02 * step for step in range(1, 60)], target)["near"].threshold
        certified += threshold is not None
        broken += threshold is not None and threshold / 1.2 > target
    assert certified > runs / 2  # the promise is made often enough for its breaking to mean something
    assert broken / runs <= 0.05 + 3 * (0.05 * 0.95 / runs) ** 0.5
    assert broken > 0  # and it is not kept by never coming near the limit

"""What can be promised about bluffs: "at most this share, with this confidence", for near and far questions apart.

Near and far are different promises. Far questions hardly ever bluff, so a bound over both would mostly say how many far
questions somebody wrote.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from experiments.outcomes import Recorded
from experiments.stats.calibration import Certification, certified_threshold
from experiments.stats.intervals import clopper_pearson_upper
from experiments.thresholds import nearest_distances
from experiments.words import listed, plural

STRATA = ("near", "far")


class Bound(NamedTuple):
    """What one threshold, fixed beforehand, promises for one stratum."""

    stratum: str
    bluffs: int
    n: int
    upper: float  # exact one-sided bound of the bluff rate; 1 where there was no question
    confidence: float

    @property
    def sentence(self) -> str:
        """The promise, or that there is none."""
        if self.n == 0:
            return f"Nothing is known about {self.stratum} questions: the set has none."
        return (
            f"Bluffs on at most {_percent(self.upper)} of {self.stratum} questions, with {_percent(self.confidence)} "
            f"confidence (on {self.bluffs} of {self.n} measured)."
        )


def certify(
    outcomes: Sequence[Recorded], thresholds: Sequence[float], target: float, confidence: float = 0.95
) -> dict[str, Certification]:
    """Certify "bluffs at most this share" for near and for far questions.

    The thresholds are tested from the strictest until the first fails, so the confidence holds although many are
    looked at, and it holds on the very questions it was found with: nothing is picked by its result. It does not hold
    for thresholds that were laid down after the distances had been seen. Each stratum has its own confidence; that
    both bounds hold at once is a little less sure.

    Args:
        outcomes: Of all questions of one combination.
        thresholds: Cosine distances, in any order.
        target: Bluff rate to be certified, strictly between 0 and 1.
        confidence: One-sided, strictly between 0 and 1.

    Returns:
        By stratum, `near` and `far`. One without questions is there and not certified.

    Raises:
        ValueError: If there are no thresholds, or a setting is out of range.
    """
    cuts = sorted(set(thresholds))
    return {name: certified_threshold(cuts, _nearest(outcomes, name), target, confidence) for name in STRATA}


def bounds_at(outcomes: Sequence[Recorded], threshold: float | None, confidence: float = 0.95) -> dict[str, Bound]:
    """What one threshold promises, by stratum, if it was fixed before these questions were measured.

    Raises:
        ValueError: If the confidence is out of range.
    """
    cut = math.inf if threshold is None else threshold
    bounds = {}
    for name in STRATA:
        distances = _nearest(outcomes, name)
        bluffs = int((distances < cut).sum())
        bounds[name] = Bound(
            name, bluffs, len(distances), clopper_pearson_upper(bluffs, len(distances), confidence), confidence
        )
    return bounds


def jointly_certified(certifications: dict[str, Certification], strata: Sequence[str] = STRATA) -> float | None:
    """The loosest threshold that is certified for each of the strata; None where one is not certifiable."""
    found = [certifications[name].threshold for name in strata]
    certified = [threshold for threshold in found if threshold is not None]
    return min(certified) if len(certified) == len(found) else None


def on_certification(stratum: str, found: Certification) -> str:
    """One stratum's certificate, or why there is none and about how many questions it would take."""
    target, confidence = _percent(found.target), _percent(found.confidence)
    promise = f'"Bluffs on at most {target} of {stratum} questions, with {confidence} confidence"'
    if found.n == 0:
        needed = f"about {found.questions_needed:,} are needed" if found.questions_needed else "it takes some"
        return f"{promise} is not certifiable without {stratum} questions: {needed}."
    seen = f"{found.bluffs} of {found.n} are bluffed on"
    if found.threshold is not None:
        return f"{promise} is certified up to cosine distance {found.threshold:g}: {seen} there."
    basis = f"{promise} is not certifiable with {plural(found.n, 'question')}"
    if found.questions_needed is None:
        return f"{basis}: already at the strictest threshold {seen}, and at that rate no number would do."
    more = found.questions_needed - found.n
    return (
        f"{basis}: {seen} at the strictest threshold, which bounds the rate at {_percent(found.upper)}; "
        f"about {found.questions_needed:,} would be needed, {more:,} more."
    )


def on_certifications(certifications: dict[str, Certification]) -> tuple[str, ...]:
    """Near and far, a sentence each."""
    return tuple(on_certification(name, found) for name, found in certifications.items())


def not_certifiable(certifications: dict[str, Certification], strata: Sequence[str] = STRATA) -> str:
    """Why no threshold can be picked by its bound, for the strata that were asked for."""
    missing = [name for name in strata if certifications[name].threshold is None]
    reasons = " ".join(on_certification(name, certifications[name]) for name in missing)
    return f"No threshold is certified for {listed(missing)} questions. {reasons}"


def _nearest(outcomes: Sequence[Recorded], stratum: str) -> NDArray[np.float64]:
    return nearest_distances([one for one in outcomes if one.needle_id is None and one.stratum == stratum])


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"

"""Choosing a threshold and reporting it on questions it was not chosen on.

What is reported, and why:

- With 100 questions or more, or when the threshold is given by hand, the set is split in two. The threshold is picked
  on the calibration half; its row on the evaluation half is the honest one.
- With fewer, half of them would be too few to pick on. The questions are divided into folds; for every fold a threshold
  is picked on all the others and applied to the fold, and the rows of all folds together are the evaluation row. It
  reports what *picking in this way* does on questions that were not looked at. The threshold that is returned is picked
  in the same way on all questions, which are its calibration row, and need not be the one of any fold; because it had a
  few more questions to be picked on, the evaluation row is, if anything, a little harsh on it.
- A threshold picked by its certified bound is always picked on all questions and reported over folds: the bound holds
  on the questions it was found with, and every unanswerable question that is kept from it weakens the promise.

Both phrasings of a needle are always on the same side, and unanswerable questions are divided within near and far.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

from experiments.deciding.certification import STRATA, certify, jointly_certified, not_certifiable
from experiments.deciding.costs import DEFAULT_COSTS, DEFAULT_UNANSWERABLE_SHARE, cheapest_threshold
from experiments.outcomes import Recorded
from experiments.stats.calibration import Certification, calibration_split, folds
from experiments.stats.intervals import Proportion, wilson
from experiments.stats.selective import Costs
from experiments.thresholds import ThresholdRow, read_thresholds
from experiments.words import counted, listed, plural

FEWEST_TO_SPLIT = 100  # questions; below, halves are too small to pick on
FOLDS = 5


class Cheapest(NamedTuple):
    """Pick the threshold of least expected cost."""

    costs: Costs = DEFAULT_COSTS
    unanswerable_share: float = DEFAULT_UNANSWERABLE_SHARE


class AtMost(NamedTuple):
    """Pick the loosest threshold at which bluffs are certified to be at most this share, in each of the strata."""

    target: float
    confidence: float = 0.95
    strata: tuple[str, ...] = STRATA


class ByHand(NamedTuple):
    """Take this threshold."""

    threshold: float


Way = Cheapest | AtMost | ByHand


class NotCertifiableError(ValueError):
    """No threshold keeps the promise; carries the certificates that say how many questions it would take."""

    def __init__(self, certifications: dict[str, Certification], strata: Sequence[str]) -> None:
        """Say which promise cannot be made, and why."""
        self.certifications = certifications
        super().__init__(not_certifiable(certifications, strata))


class Side(NamedTuple):
    """What a threshold did on one side of the split, and how many of what were there."""

    row: ThresholdRow
    needles: int
    answerable: int
    near: int
    far: int


class FoldPick(NamedTuple):
    """What was picked without one fold."""

    fold: int
    threshold: float | None  # None: nothing was certifiable without the fold, so the evaluation leaves it out
    questions: int  # of the fold


class Choice(NamedTuple):
    """A threshold, where it came from, and its row on both sides.

    Attributes:
        threshold: The threshold to use.
        way: How it was picked.
        calibration: On the questions it was picked on.
        evaluation: On questions that had no part in the picking; see the module for what that means over folds.
        seed: Of the hash that divides the questions.
        folds: What was picked without each fold; empty where the set was split in two.
    """

    threshold: float
    way: Way
    calibration: Side
    evaluation: Side
    seed: int
    folds: tuple[FoldPick, ...]

    @property
    def method(self) -> Literal["split", "folds"]:
        """Whether the set was split in two or cross-fitted."""
        return "folds" if self.folds else "split"


def choose(outcomes: Sequence[Recorded], thresholds: Sequence[float], way: Way, *, seed: int) -> Choice:
    """Choose a threshold.

    Args:
        outcomes: Of all questions of one combination.
        thresholds: Cosine distances to choose among, laid down before the outcomes were seen.
        way: By cost, by bound or by hand.
        seed: Of the hash that divides the questions.

    Raises:
        NotCertifiableError: If a bound is asked for that these questions cannot certify.
        ValueError: If a threshold given by hand lies outside [0, 2], there are no unanswerable questions, or too few of
            a kind to have some on both sides.
    """
    if isinstance(way, ByHand) and not 0 <= way.threshold <= 2:
        raise ValueError(f"a cosine distance lies between 0 and 2, got {way.threshold:g}")
    _require_unanswerable(outcomes)
    if isinstance(way, ByHand) or (isinstance(way, Cheapest) and len(outcomes) >= FEWEST_TO_SPLIT):
        return _split(outcomes, thresholds, way, seed)
    return _cross_fit(outcomes, thresholds, way, seed)


def _split(outcomes: Sequence[Recorded], thresholds: Sequence[float], way: Way, seed: int) -> Choice:
    first = calibration_split(_ids(outcomes), seed, strata=_strata(outcomes))
    calibration = [one for one, is_first in zip(outcomes, first, strict=True) if is_first]
    evaluation = [one for one, is_first in zip(outcomes, first, strict=True) if not is_first]
    _require_both_kinds(calibration, evaluation)
    threshold = _pick(calibration, thresholds, way)
    rows = [read_thresholds(side, [threshold])[0] for side in (calibration, evaluation)]
    return Choice(threshold, way, _side(rows[0], calibration), _side(rows[1], evaluation), seed, ())


def _cross_fit(outcomes: Sequence[Recorded], thresholds: Sequence[float], way: Way, seed: int) -> Choice:
    fold_of = folds(_ids(outcomes), FOLDS, seed, strata=_strata(outcomes))
    threshold = _pick(outcomes, thresholds, way)
    picks: list[FoldPick] = []
    rows: list[ThresholdRow] = []
    evaluated: list[Recorded] = []
    for fold in sorted(set(fold_of.tolist())):
        inside = [one for one, place in zip(outcomes, fold_of, strict=True) if place == fold]
        others = [one for one, place in zip(outcomes, fold_of, strict=True) if place != fold]
        _require_both_kinds(others)
        try:
            picked: float | None = _pick(others, thresholds, way)
        except NotCertifiableError:
            picked = None
        if picked is not None:  # a fold that could not be judged is left out, and never counted as refused
            rows += read_thresholds(inside, [picked])
            evaluated += inside
        picks.append(FoldPick(fold, picked, len(inside)))
    whole = read_thresholds(outcomes, [threshold])[0]
    evaluation = _side(pooled(rows, threshold), evaluated)
    return Choice(threshold, way, _side(whole, outcomes), evaluation, seed, tuple(picks))


def pooled(rows: Sequence[ThresholdRow], threshold: float | None) -> ThresholdRow:
    """One row over several disjoint sets of questions, each read at its own threshold.

    Args:
        rows: One a set.
        threshold: What the pooled row is said to be about.
    """

    def together(share: Callable[[ThresholdRow], Proportion]) -> Proportion:
        return wilson(sum(share(row).hits for row in rows), sum(share(row).n for row in rows))

    return ThresholdRow(
        threshold,
        right=together(lambda row: row.right),
        wrong=together(lambda row: row.wrong),
        refused=together(lambda row: row.refused),
        refused_could_answer=together(lambda row: row.refused_could_answer),
        correctly_refused=together(lambda row: row.correctly_refused),
        bluffs=together(lambda row: row.bluffs),
        bluffs_near=together(lambda row: row.bluffs_near),
        bluffs_far=together(lambda row: row.bluffs_far),
    )


def _pick(outcomes: Sequence[Recorded], thresholds: Sequence[float], way: Way) -> float:
    if isinstance(way, ByHand):
        return way.threshold
    if isinstance(way, Cheapest):
        return cheapest_threshold(outcomes, thresholds, way.costs, way.unanswerable_share)
    certifications = certify(outcomes, thresholds, way.target, way.confidence)
    found = jointly_certified(certifications, way.strata)
    if found is None:
        raise NotCertifiableError(certifications, way.strata)
    return found


def _ids(outcomes: Sequence[Recorded]) -> list[str]:
    """What is divided: needles, whole with their phrasings, and unanswerable questions."""
    # A question may be called like a needle; the mark keeps the two apart.
    return [f"needle {one.needle_id}" if one.needle_id else f"question {one.query_id}" for one in outcomes]


def _strata(outcomes: Sequence[Recorded]) -> list[str]:
    return ["answerable" if one.needle_id is not None else one.stratum or "" for one in outcomes]


def _side(row: ThresholdRow, outcomes: Sequence[Recorded]) -> Side:
    needles = {one.needle_id for one in outcomes if one.needle_id is not None}
    return Side(row, len(needles), row.right.n, row.bluffs_near.n, row.bluffs_far.n)


def _require_unanswerable(outcomes: Sequence[Recorded]) -> None:
    if all(one.needle_id is not None for one in outcomes):
        raise ValueError(
            f"the question set has no unanswerable questions ({plural(len(outcomes), 'answerable one')}), so nothing "
            'is known about bluffs and no threshold can be chosen; add questions with a stratum, "near" or "far", '
            "instead of a needle, and run a sweep"
        )


def _require_both_kinds(*sides: Sequence[Recorded]) -> None:
    for side in sides:
        answerable = sum(one.needle_id is not None for one in side)
        if answerable == 0 or answerable == len(side):
            raise ValueError(
                "the question set is too small to choose a threshold and report it on other questions: a side would "
                f"have {plural(answerable, 'answerable question')} and {len(side) - answerable} unanswerable; at least "
                "two needles and two unanswerable questions of each stratum are needed"
            )


def on_choice(choice: Choice) -> tuple[str, ...]:
    """How the threshold was picked, and what it does where it was not picked."""
    evaluation, calibration = choice.evaluation, choice.calibration
    said = [f"Threshold {choice.threshold:g}, {on_way(choice.way)}."]
    if choice.method == "folds":
        used = sorted({pick.threshold for pick in choice.folds if pick.threshold is not None})
        if used:
            said.append(
                f"Out of fold, {plural(_size(evaluation), 'question')}, none of which had a part in picking the "
                f"threshold it is read at ({listed([f'{threshold:g}' for threshold in used], 'or')}): "
                f"{_results(evaluation.row)}."
            )
        left_out = [pick for pick in choice.folds if pick.threshold is None]
        if left_out:
            said.append(
                f"Without {len(left_out)} of {len(choice.folds)} folds too few questions remain to certify any "
                f"threshold, so {plural(sum(pick.questions for pick in left_out), 'question')} cannot be judged out of "
                "fold; the bound itself holds without them."
            )
        said.append(f"On all questions, on which it was picked: {_results(calibration.row)}.")
    else:
        role = "the other half" if isinstance(choice.way, ByHand) else "those it was picked on"
        said.append(f"On {plural(_size(evaluation), 'question')} for evaluation: {_results(evaluation.row)}.")
        said.append(f"On {_size(calibration)} for calibration, {role}: {_results(calibration.row)}.")
    if isinstance(choice.way, ByHand):
        said.append("It was given by hand: where whoever gave it had seen these questions, both rows flatter it.")
    return tuple(said)


def on_way(way: Way) -> str:
    """How a threshold is picked, as the end of a sentence."""
    if isinstance(way, Cheapest):
        return "the cheapest"
    if isinstance(way, AtMost):
        return (
            f"the loosest at which bluffs on {listed(way.strata)} questions are certified to be at most "
            f"{100 * way.target:.3g} %, with {100 * way.confidence:.3g} % confidence"
        )
    return "given by hand"


def _size(side: Side) -> int:
    return side.answerable + side.near + side.far


def _results(row: ThresholdRow) -> str:
    return f"{counted(row.right)} right, {counted(row.wrong)} wrong, {counted(row.bluffs)} bluffs"

"""What one threshold does: the numbers beside the line, on which questions, at what cost, and the bluffs it lets by."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

from experiments.deciding.certification import bounds_at, certify
from experiments.deciding.choosing import ByHand, Cheapest, Choice, Way, choose
from experiments.deciding.costs import DEFAULT_COSTS, DEFAULT_UNANSWERABLE_SHARE, CostCurve, CostRow, cost_curve
from experiments.deciding.evidence import DEFAULT_TARGET
from experiments.deciding.signals import ScorerSignal, SignalComparison, compare_signals, scorer_signal
from experiments.gate import GATE_SIZE
from experiments.naming import scale_of
from experiments.outcomes import Hit, Outcome, Recorded
from experiments.reviewing.bluffs import matched
from experiments.stats.calibration import Certification
from experiments.stats.intervals import Proportion, wilson
from experiments.stats.selective import Costs
from experiments.thresholds import ThresholdRow
from experiments.verdicts.hit_rules import on_questions
from experiments.words import listed
from store.reads_texts import DocumentText
from webapp.whiskers import Estimate


class Terms(NamedTuple):
    """What a reader asks of a threshold."""

    costs: Costs
    share: float  # of the traffic that the corpus does not answer
    most: float  # bluff rate to be certified


DEFAULT_TERMS = Terms(DEFAULT_COSTS, DEFAULT_UNANSWERABLE_SHARE, DEFAULT_TARGET)


class Cells(NamedTuple):
    """A row of the sweep, ready to be shown."""

    threshold: float | None
    label: str
    current: bool
    right: Estimate
    wrong: Estimate
    refused: Estimate
    could_answer: Estimate
    correctly_refused: Estimate
    bluffs: Estimate
    near: Estimate
    far: Estimate


class SideRow(NamedTuple):
    """A threshold on some of the questions."""

    picked: str  # how the threshold was picked
    threshold: str
    side: str
    what: str  # the questions, in words
    cells: Cells
    reported: bool  # on questions that had no part in picking


class Sides(NamedTuple):
    """Thresholds on both sides, and what there is to say of them."""

    rows: tuple[SideRow, ...]
    sentences: tuple[str, ...]


class Bluff(NamedTuple):
    """An unanswerable question that is answered."""

    query_id: str
    question: str
    stratum: str
    distance: float
    place: str
    kind: str
    words: str
    query_url: str | None
    place_url: str | None


class Answered(NamedTuple):
    """How much is answered at a threshold, and how much of that is wrong."""

    coverage: Estimate
    risk: Estimate


def estimate(share: Proportion) -> Estimate:
    """A proportion as tables and whiskers take it."""
    return Estimate(share.estimate, share.low, share.high, share.n, share.hits)


def cells(row: ThresholdRow, current: float | None, *, on: bool = True) -> Cells:
    """A row of the sweep; `on` says whether one row is to be marked at all."""
    return Cells(
        row.threshold,
        row.label,
        on and row.threshold == current,
        *(estimate(share) for share in row[1:]),
    )


def answered(row: ThresholdRow) -> Answered:
    """Coverage and selective risk, on the mix of questions as they were asked."""
    said = row.right.hits + row.wrong.hits + row.bluffs.hits
    wrong = row.wrong.hits + row.bluffs.hits
    return Answered(estimate(wilson(said, row.right.n + row.bluffs.n)), estimate(wilson(wrong, said)))


@lru_cache(maxsize=64)  # moving the line changes none of it
def further_of(outcomes: tuple[Recorded, ...], retriever: str, seed: int) -> ScorerSignal | None:
    """A second model's best score as a further signal; None where there is no second model."""
    return scorer_signal(outcomes, f"best {scale_of(retriever)} score", seed=seed)


@lru_cache(maxsize=64)
def signals_of(outcomes: tuple[Recorded, ...], seed: int) -> SignalComparison:
    """Both signals for saying no."""
    return compare_signals(outcomes, seed=seed)


@lru_cache(maxsize=64)
def curve_of(outcomes: tuple[Recorded, ...], cuts: tuple[float | None, ...], terms: Terms, seed: int) -> CostCurve:
    """The expected cost of some thresholds.

    Raises:
        ValueError: If it asks for a kind of question the set does not have.
    """
    return cost_curve(outcomes, cuts, terms.costs, terms.share, seed=seed)


def priced(
    outcomes: tuple[Recorded, ...], grid: Sequence[float], threshold: float | None, terms: Terms, seed: int
) -> tuple[CostCurve, CostRow] | str:
    """The cost of the sweep's thresholds and of this one, or why there is none.

    The cheapest is looked for among the thresholds that were laid down before anything was measured; this one is
    priced by itself, so that looking at it does not make it a candidate.
    """
    try:
        curve = curve_of(outcomes, (*grid, None), terms, seed)
        return curve, curve.at(threshold) or curve_of(outcomes, (threshold,), terms, seed).cheapest
    except ValueError as error:
        return str(error)


def spans(curve: CostCurve) -> list[str]:
    """The thresholds that cannot be told from the cheapest."""
    return [run[0].label if len(run) == 1 else f"{run[0].label} to {run[-1].label}" for run in curve.runs]


def sides(
    outcomes: Sequence[Recorded], grid: Sequence[float], threshold: float | None, terms: Terms, seed: int, rule: str
) -> Sides:
    """This threshold and the cheapest, each on the questions it was picked on and on others."""
    ways: list[tuple[str, Way]] = [("the cheapest", Cheapest(terms.costs, terms.share))]
    if threshold is not None:
        ways.insert(0, ("this line", ByHand(threshold)))
    rows: list[SideRow] = []
    said: list[str] = []
    for words, way in ways:
        try:
            choice = choose(outcomes, grid, way, seed=seed)
        except ValueError as error:  # too few questions of a kind
            said.append(f"{words[:1].upper()}{words[1:]} has no row: {error}.")
            continue
        rows += side_rows(words, choice, rule)
        said += _on_method(choice)
    return Sides(tuple(rows), tuple(said))


def side_rows(words: str, choice: Choice, rule: str) -> tuple[SideRow, ...]:
    """A choice on both sides, the one it was picked on first."""
    how = ("", "out of fold: ") if choice.method == "folds" else ("", "")
    return tuple(
        SideRow(
            words,
            f"{choice.threshold:g}",
            name,
            f"{start}{side.answerable} {on_questions(rule, side.needles)}, {side.near} near, {side.far} far",
            cells(side.row, None, on=False),
            reported,
        )
        for name, start, side, reported in zip(
            ("calibration", "evaluation"), how, (choice.calibration, choice.evaluation), (False, True), strict=True
        )
    )


def _on_method(choice: Choice) -> list[str]:
    """What must be known to read the two rows of a choice."""
    if isinstance(choice.way, ByHand):
        return [
            "This line was given by hand: where whoever gave it had seen these questions, both its rows flatter it."
        ]
    if choice.method == "split":
        return []
    used = sorted({pick.threshold for pick in choice.folds if pick.threshold is not None})
    return [
        "The cheapest is picked on all questions, which are too few to halve; its evaluation picks anew without each "
        f"of {len(choice.folds)} folds and reads that fold there ({listed([f'{one:g}' for one in used], 'or')})."
    ]


def evaluation_of(rows: Sequence[SideRow]) -> SideRow | None:
    """This threshold on the questions set apart for reporting."""
    return next((row for row in rows if row.picked == "this line" and row.reported), None)


class Certificate(NamedTuple):
    """A promise about one stratum, at the target and at this threshold."""

    stratum: str
    found: Certification
    bluffs: int
    n: int
    upper: float  # what this very threshold would promise


def certificates(
    outcomes: Sequence[Recorded], grid: Sequence[float], threshold: float | None, most: float
) -> tuple[Certificate, ...]:
    """What can be promised for near and far questions apart."""
    bounds = bounds_at(outcomes, threshold)
    return tuple(
        Certificate(stratum, found, bounds[stratum].bluffs, bounds[stratum].n, bounds[stratum].upper)
        for stratum, found in certify(outcomes, grid, most).items()
    )


def nearest_hit(outcome: Outcome) -> Hit | None:
    """The chunk that made the gate answer: the nearest of those it looks at, the better ranked of equals."""
    return min(outcome.hits[:GATE_SIZE], key=lambda hit: hit.distance, default=None)


def bluffs_of(outcomes: Sequence[Outcome], threshold: float | None) -> list[tuple[Outcome, Hit]]:
    """The unanswerable questions that are answered, the nearest first."""
    cut = float("inf") if threshold is None else threshold
    found = [(one, nearest_hit(one)) for one in outcomes if one.needle_id is None]
    let_by = [(one, hit) for one, hit in found if hit is not None and hit.distance < cut]
    return sorted(let_by, key=lambda pair: pair[1].distance)


def bluff_lines(
    bluffs: Sequence[tuple[Outcome, Hit]],
    questions: Mapping[str, str],
    documents: Mapping[str, DocumentText],
    query_url: Callable[[str], str | None],
    place_url: Callable[[Hit], str | None],
) -> tuple[Bluff, ...]:
    """The list of bluffs with what each matched."""
    lines = []
    for outcome, hit in bluffs:
        question, document = questions.get(outcome.query_id, outcome.query_id), documents.get(hit.document)
        there = document.text[hit.overlap_start : hit.end] if document else ""
        text = there if hit.text is None else hit.text
        match = matched(question, text)
        title = document.title if document else hit.document
        if hit.text is not None:
            title = "a text that stands at no one place of the documents"
        lines.append(
            Bluff(
                query_id=outcome.query_id,
                question=question,
                stratum=outcome.stratum or "",
                distance=hit.distance,
                place=" › ".join(part for part in (title, hit.section) if part),
                kind=match.kind if text else "text missing",
                words=match.words if text else "the document's text is not in this store",
                query_url=query_url(outcome.query_id),
                place_url=place_url(hit),
            )
        )
    return tuple(lines)

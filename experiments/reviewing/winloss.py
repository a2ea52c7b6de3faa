"""All combinations against each other at one k: the matrix, the order and how firm it is, and the questions behind it.

Everything is counted either by question or by needle; a needle is won where more of its phrasings are found.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from experiments.evaluation import answerable, ranks, side_by_side
from experiments.outcomes import Recorded
from experiments.stats.intervals import Proportion
from experiments.stats.pairs import PairedMatrix, best_share, paired_matrix
from experiments.stats.resolution import questions_needed
from experiments.stats.retrieval import recall_at, success_at

Unit = Literal["question", "needle"]


class Pairing(NamedTuple):
    """One combination against another. `wins` are questions (or needles) on which `first` does better."""

    first: str
    second: str
    k: int
    unit: Unit
    wins: int
    losses: int
    n: int
    p: float
    holm_p: float
    resolved: bool  # Holm's p is at most alpha
    resolvable: bool  # it could have been, had all discordant ones gone one way
    discordant_needed: int  # the fewest discordant ones that could resolve it
    alpha: float

    @property
    def more_needed(self) -> int | None:
        """About how many more, asked as those so far, would resolve this pair alone; None where neither leads."""
        return questions_needed(self.wins, self.losses, self.n, self.alpha)

    @property
    def discordant(self) -> int:
        """Questions (or needles) on which the two differ."""
        return self.wins + self.losses


class Standing(NamedTuple):
    """One combination among all."""

    key: str
    found: Proportion  # of the questions, whatever the unit
    beats: int  # combinations it is resolved to be ahead of
    beaten: int  # combinations resolved to be ahead of it
    best_share: float  # of bootstrap resamples in which it finds most, ties shared


class WinLoss(NamedTuple):
    """Every combination against every other, as one family."""

    keys: tuple[str, ...]
    k: int
    unit: Unit
    alpha: float
    n: int  # questions, or needles, that any of them was asked; a pair's own is in the matrix
    matrix: PairedMatrix
    standings: tuple[Standing, ...]

    @property
    def family(self) -> int:
        """Pairs that were tested together."""
        return len(self.keys) * (len(self.keys) - 1) // 2

    def pairing(self, first: str, second: str) -> Pairing:
        """One pair, seen from `first`.

        Raises:
            ValueError: If a key is not among the combinations, or both are the same.
        """
        for key in (first, second):
            if key not in self.keys:
                raise ValueError(f"{key!r} is not among the combinations compared")
        if first == second:
            raise ValueError(f"{first!r} cannot be compared with itself")
        return self._pairing(self.keys.index(first), self.keys.index(second))

    def pairings(self) -> list[Pairing]:
        """Every pair once, in the order of the combinations."""
        return [
            self._pairing(row, column)
            for row in range(len(self.keys))
            for column in range(row + 1, len(self.keys))
        ]  # fmt: skip

    def _pairing(self, row: int, column: int) -> Pairing:
        matrix = self.matrix
        wins, losses = int(matrix.wins[row, column]), int(matrix.losses[row, column])
        holm_p = float(matrix.holm_p[row, column])
        return Pairing(
            first=self.keys[row],
            second=self.keys[column],
            k=self.k,
            unit=self.unit,
            wins=wins,
            losses=losses,
            n=int(matrix.n[row, column]),
            p=float(matrix.p[row, column]),
            holm_p=holm_p,
            resolved=holm_p <= self.alpha,
            resolvable=bool(matrix.resolvable[row, column]),
            discordant_needed=int(matrix.discordant_needed[row, column]),
            alpha=self.alpha,
        )


class Discordant(NamedTuple):
    """One question as two combinations met it."""

    first: Recorded
    second: Recorded
    first_found: bool
    second_found: bool


def compare_all(
    outcomes: Mapping[str, Sequence[Recorded]], k: int, unit: Unit, *, alpha: float, seed: int
) -> WinLoss | None:
    """Compare all combinations in pairs.

    Args:
        outcomes: By combination key. A pair is judged on the questions both have an answer to on record; how firm the
            order is, on those that all have.
        k: Depth at which an answer counts as found.
        unit: What is counted.
        alpha: Significance level of the whole family.
        seed: Of the resamples.

    Returns:
        None where there is no combination, or no answerable question was asked.

    Raises:
        ValueError: If a question id stands for different questions.
    """
    keys = tuple(outcomes)
    laid = side_by_side([outcomes[key] for key in keys])
    if not laid.queries:
        return None
    found = np.stack([success_at(one, k) for one in laid.ranks])
    needles = np.array(laid.needles)
    matrix = paired_matrix(found, alpha, needles if unit == "needle" else None, laid.asked)
    resolved = matrix.holm_p <= alpha
    ahead, behind = matrix.wins > matrix.losses, matrix.wins < matrix.losses
    everyone = laid.asked.all(axis=0)
    everyone = everyone if everyone.any() else laid.asked.any(axis=0)
    shares = best_share(found[:, everyone].astype(float), needles[everyone], seed=seed)
    standings = tuple(
        Standing(
            key=key,
            found=recall_at(laid.ranks[row, laid.asked[row]], k),
            beats=int((resolved & ahead)[row].sum()),
            beaten=int((resolved & behind)[row].sum()),
            best_share=float(shares[row]),
        )
        for row, key in enumerate(keys)
    )
    n = len(set(needles)) if unit == "needle" else len(needles)
    return WinLoss(keys, k, unit, alpha, n, matrix, standings)


def by_found(outcomes: Mapping[str, Sequence[Recorded]], k: int) -> list[str]:
    """Combination keys, the one that finds most at k first, equal ones in the order of the mapping."""
    found = {key: recall_at(ranks(answerable(one)), k).estimate or 0.0 for key, one in outcomes.items()}
    return sorted(outcomes, key=lambda key: -found[key])


def discordant(
    first: Sequence[Recorded], second: Sequence[Recorded], k: int, unit: Unit
) -> tuple[list[list[Discordant]], list[list[Discordant]]]:
    """The questions behind a pair: those won, then those lost, each grouped by what is counted.

    Args:
        first: Outcomes of one combination.
        second: Outcomes of the other; questions only one of them has on record are left out.
        k: Depth.
        unit: `question` gives groups of one; `needle` gives all phrasings of each needle the two differ on.
    """
    others = {outcome.query_id: outcome for outcome in answerable(second)}
    pairs = [
        Discordant(one, others[one.query_id], _found(one, k), _found(others[one.query_id], k))
        for one in answerable(first)
        if one.query_id in others
    ]
    groups: dict[str, list[Discordant]] = {}
    for pair in pairs:
        name = pair.first.needle_id if unit == "needle" else pair.first.query_id
        groups.setdefault(name or "", []).append(pair)
    leads = {name: sum(one.first_found - one.second_found for one in group) for name, group in groups.items()}
    won = [group for name, group in groups.items() if leads[name] > 0]
    lost = [group for name, group in groups.items() if leads[name] < 0]
    return won, lost


def place(outcome: Recorded, k: int) -> str:
    """Where an answerable question's needle stands without any threshold: `found` or how it was lost at k."""
    if _found(outcome, k):
        return "found"
    if outcome.destroyed:
        return "destroyed"
    if outcome.truncated:
        return "truncated"
    return "below" if outcome.rank is not None else "absent"


def _found(outcome: Recorded, k: int) -> bool:
    return outcome.rank is not None and outcome.rank <= k

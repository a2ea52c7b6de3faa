"""Two combinations of a sweep side by side, judged within the family of all its pairs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.evaluation import answerable, ranks
from experiments.outcomes import Recorded
from experiments.pairs import Pair
from experiments.stats.checks import BoolArray
from experiments.stats.comparison import per_needle_sign_test
from experiments.stats.intervals import MeanInterval, cluster_bootstrap_mean
from experiments.stats.pairs import PairedMatrix, paired_matrix
from experiments.stats.resolution import questions_needed
from experiments.stats.retrieval import success_at


class Duel(NamedTuple):
    """One pair with the questions on which it differs."""

    pair: Pair
    difference: MeanInterval  # of R@k, first minus second, paired, by needle
    won: tuple[str, ...]  # questions that only the first finds
    lost: tuple[str, ...]


class Family(NamedTuple):
    """All pairs of a sweep at one k: adding up wins once is quick, and any pair is then read from it."""

    keys: tuple[str, ...]
    k: int
    alpha: float
    queries: tuple[str, ...]
    needles: tuple[str, ...]
    found: BoolArray  # (n_combinations, n_queries)
    matrix: PairedMatrix

    @property
    def pairs(self) -> int:
        """How many comparisons Holm's correction is made for."""
        return len(self.keys) * (len(self.keys) - 1) // 2

    def holm_p(self, first: str, second: str) -> float:
        """Holm's p of one pair."""
        return float(self.matrix.holm_p[self.keys.index(first), self.keys.index(second)])

    def duel(self, first: str, second: str, seed: int) -> Duel:
        """Everything about one pair.

        Raises:
            ValueError: If one of them is not in the family.
        """
        row, column = self.keys.index(first), self.keys.index(second)
        mine, other = self.found[row], self.found[column]
        wins, losses = int(self.matrix.wins[row, column]), int(self.matrix.losses[row, column])
        holm_p = self.holm_p(first, second)
        pair = Pair(
            first=first,
            second=second,
            k=self.k,
            wins=wins,
            losses=losses,
            n=len(self.queries),
            p=float(self.matrix.p[row, column]),
            holm_p=holm_p,
            resolved=holm_p <= self.alpha,
            resolvable=bool(self.matrix.resolvable[row, column]),
            discordant_needed=int(self.matrix.discordant_needed[row, column]),
            more_questions=questions_needed(wins, losses, len(self.queries), self.alpha),
            by_needle=per_needle_sign_test(mine, other, self.needles),
        )
        gain = mine.astype(float) - other.astype(float)
        return Duel(
            pair,
            cluster_bootstrap_mean(gain, self.needles, seed=seed),
            tuple(self.queries[place] for place in np.flatnonzero(mine & ~other)),
            tuple(self.queries[place] for place in np.flatnonzero(other & ~mine)),
        )


def family(outcomes: Mapping[str, Sequence[Recorded]], k: int, alpha: float) -> Family | None:
    """Compare every combination with every other.

    Args:
        outcomes: By combination key; all of the same questions.
        k: Depth at which an answer counts as found.
        alpha: Significance level of the family.

    Returns:
        None where there is nothing to compare: no combination, or no answerable question.

    Raises:
        ValueError: If the combinations were not asked the same questions.
    """
    asked = {key: answerable(one) for key, one in outcomes.items()}
    questions = {tuple((outcome.query_id, outcome.needle_id or "") for outcome in one) for one in asked.values()}
    if len(questions) > 1:
        raise ValueError("combinations that were asked different questions cannot be compared in pairs")
    if not questions or questions == {()}:
        return None
    queries, needles = zip(*questions.pop(), strict=True)
    found = np.stack([success_at(ranks(one), k) for one in asked.values()])
    return Family(tuple(asked), k, alpha, queries, needles, found, paired_matrix(found, alpha))

"""Comparing combinations on the same questions, with everything a sentence about them needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.evaluation import side_by_side
from experiments.outcomes import Recorded
from experiments.stats.comparison import SignTest, per_needle_sign_test
from experiments.stats.pairs import paired_matrix
from experiments.stats.resolution import questions_needed
from experiments.stats.retrieval import success_at


class Pair(NamedTuple):
    """One combination against another at one k. `wins` are questions that `first` finds and `second` does not."""

    first: str
    second: str
    k: int
    wins: int
    losses: int
    n: int
    p: float
    holm_p: float
    resolved: bool  # Holm's p is at most alpha
    resolvable: bool  # it could have been, with these discordant questions
    discordant_needed: int
    more_questions: int | None  # about how many more would resolve it alone, at the pace so far; None: no lead
    by_needle: SignTest

    @property
    def reversed(self) -> Pair:
        """The same evidence, seen from the other side."""
        needle = self.by_needle
        return self._replace(
            first=self.second,
            second=self.first,
            wins=self.losses,
            losses=self.wins,
            by_needle=needle._replace(wins=needle.losses, losses=needle.wins),
        )


def compare(outcomes: Mapping[str, Sequence[Recorded]], k: int, alpha: float) -> list[Pair]:
    """Compare every combination with every later one, as one family.

    Args:
        outcomes: By combination key. A pair is judged on the questions that both have an answer to on record.
        k: Depth at which an answer counts as found.
        alpha: Significance level of the family.

    Returns:
        m (m - 1) / 2 pairs for m combinations, in the order of the mapping; none where nothing was asked.

    Raises:
        ValueError: If a question id stands for different questions.
    """
    keys = list(outcomes)
    laid = side_by_side([outcomes[key] for key in keys])
    if len(keys) < 2 or not laid.queries:
        return []
    found = np.stack([success_at(one, k) for one in laid.ranks])
    needles = np.array(laid.needles)
    matrix = paired_matrix(found, alpha, asked=laid.asked)
    pairs = []
    for row, first in enumerate(keys):
        for column in range(row + 1, len(keys)):
            wins, losses = int(matrix.wins[row, column]), int(matrix.losses[row, column])
            n, both = int(matrix.n[row, column]), laid.asked[row] & laid.asked[column]
            holm_p = float(matrix.holm_p[row, column])
            pairs.append(
                Pair(
                    first=first,
                    second=keys[column],
                    k=k,
                    wins=wins,
                    losses=losses,
                    n=n,
                    p=float(matrix.p[row, column]),
                    holm_p=holm_p,
                    resolved=holm_p <= alpha,
                    resolvable=bool(matrix.resolvable[row, column]),
                    discordant_needed=int(matrix.discordant_needed[row, column]),
                    more_questions=questions_needed(wins, losses, n, alpha),
                    by_needle=per_needle_sign_test(found[row, both], found[column, both], needles[both]),
                )
            )
    return pairs

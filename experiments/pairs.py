"""Comparing combinations on the same questions, with everything a sentence about them needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from experiments.evaluation import answerable, ranks
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
        outcomes: By combination key; all of the same questions.
        k: Depth at which an answer counts as found.
        alpha: Significance level of the family.

    Returns:
        m (m - 1) / 2 pairs for m combinations, in the order of the mapping; none where nothing was asked.

    Raises:
        ValueError: If the combinations were not asked the same questions.
    """
    keys = list(outcomes)
    asked = {key: answerable(outcomes[key]) for key in keys}
    questions = {tuple(outcome.query_id for outcome in one) for one in asked.values()}
    if len(questions) > 1:
        raise ValueError("combinations that were asked different questions cannot be compared in pairs")
    if len(keys) < 2 or not asked[keys[0]]:
        return []
    found = np.stack([success_at(ranks(asked[key]), k) for key in keys])
    needles = [outcome.needle_id or "" for outcome in asked[keys[0]]]
    matrix = paired_matrix(found, alpha)
    pairs = []
    for row, first in enumerate(keys):
        for column in range(row + 1, len(keys)):
            wins, losses = int(matrix.wins[row, column]), int(matrix.losses[row, column])
            holm_p = float(matrix.holm_p[row, column])
            pairs.append(
                Pair(
                    first=first,
                    second=keys[column],
                    k=k,
                    wins=wins,
                    losses=losses,
                    n=found.shape[1],
                    p=float(matrix.p[row, column]),
                    holm_p=holm_p,
                    resolved=holm_p <= alpha,
                    resolvable=bool(matrix.resolvable[row, column]),
                    discordant_needed=int(matrix.discordant_needed[row, column]),
                    more_questions=questions_needed(wins, losses, found.shape[1], alpha),
                    by_needle=per_needle_sign_test(found[row], found[column], needles),
                )
            )
    return pairs

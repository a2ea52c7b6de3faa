"""Outcomes made up for tests: only what a threshold is read from matters."""

import numpy as np

from experiments.outcomes import Outcome


def outcome(
    query_id: str,
    nearest: float | None,
    *,
    needle: str | None = None,
    kept: float | None = None,
    stratum: str | None = None,
    gap: float | None = 0.0,
) -> Outcome:
    """One outcome; answerable when it has a needle, whose chunk lies at `kept` among those the gate sees."""
    return Outcome(
        query_id=query_id,
        needle_id=needle,
        phrasing=None,
        stratum=stratum,
        rank=None if kept is None else 1,
        destroyed=False,
        truncated=False,
        quotable=None,
        nearest=nearest,
        needle_distance=kept,
        chunk_distance=kept,
        gap=gap,
    )


def question_set(seed: int, needles: int = 32, near: int = 21, far: int = 9) -> list[Outcome]:
    """A set like a real one: two phrasings a needle, near questions harder to refuse than far ones."""
    rng = np.random.default_rng(seed)
    made = []
    for number in range(needles):
        centre = rng.normal(0.5, 0.1)
        for phrasing in "ab":
            nearest = float(np.clip(rng.normal(centre, 0.05), 0.05, 1.5))
            found = rng.random()
            kept = nearest if found < 0.5 else nearest + float(rng.random() * 0.2) if found < 0.75 else None
            made.append(
                outcome(
                    f"q{number}{phrasing}", nearest, needle=f"n{number}", kept=kept, gap=float(rng.normal(0.03, 0.02))
                )
            )
    for stratum, count, centre in (("near", near, 0.6), ("far", far, 0.8)):
        for number in range(count):
            nearest = float(np.clip(rng.normal(centre, 0.1), 0.05, 1.9))
            made.append(outcome(f"{stratum}{number}", nearest, stratum=stratum, gap=float(rng.normal(0.01, 0.01))))
    return made

"""Whether two question sets differ only in where their needles stand, told from what their sweeps recorded.

The hash of a question set holds the places of its needles, and an edited document moves every needle behind the edit.
Beside it a sweep records a hash of the same questions without places; a sweep of an older version has none, and its
questions then count as changed whenever their hash is another one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

WORDING = "wording"  # the setting it is recorded as


class Asked(Protocol):
    """What says which questions a sweep asked of which documents."""

    @property
    def corpus_hash(self) -> str: ...  # noqa: D102
    @property
    def questions_hash(self) -> str: ...  # noqa: D102
    @property
    def settings(self) -> Mapping[str, Any]: ...  # noqa: D102


def same_questions(before: Asked, after: Asked) -> bool:
    """Whether nobody changed the questions; within the same documents a needle at another place is another needle."""
    return before.questions_hash == after.questions_hash or only_moved(
        before.corpus_hash, before.settings.get(WORDING), after
    )


def only_moved(corpus_hash: str, wording: str | None, after: Asked) -> bool:
    """Whether the questions of an earlier sweep are those of a later one, but for needles that moved with documents."""
    return wording is not None and wording == after.settings.get(WORDING) and corpus_hash != after.corpus_hash

"""Stretches of documents with things marked in them, ready to be shown."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from experiments.asking.marking import Span, Window, runs


class Piece(NamedTuple):
    """A run of text under the same marks."""

    text: str
    tag: str  # mark, or span
    classes: str
    label: str  # a cut that stands before it, in words; empty where there is none


def pieces(text: str, window: Window, spans: Sequence[Span], cuts: Iterable[tuple[int, str]] = ()) -> tuple[Piece, ...]:
    """Text between two places, cut into pieces.

    Args:
        text: The whole document.
        window: What of it is shown.
        spans: Marks; those of kind `needle` become marks, the kinds of others become classes.
        cuts: Places a chunk begins at, with its label.
    """
    labels: dict[int, list[str]] = {}
    for place, label in cuts:
        labels.setdefault(place, []).append(label)
    found = []
    for run in runs(text, window, spans, labels):
        kinds = dict.fromkeys(mark.kind for mark in run.marks)
        tag = "mark" if "needle" in kinds else "span"
        found.append(
            Piece(
                run.text,
                tag,
                " ".join(kind for kind in kinds if kind != "needle"),
                " ".join(labels.get(run.start, ())),
            )
        )
    return tuple(found)

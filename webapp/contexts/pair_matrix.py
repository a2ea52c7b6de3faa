"""The win/loss matrix, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from markupsafe import Markup

from experiments.reviewing.winloss import WinLoss
from experiments.words import p_value
from webapp.cells import Score, scores
from webapp.combinations import Head
from webapp.params import changed

MINUS = "\u2212"


class Row(NamedTuple):
    """A row of the matrix."""

    head: Head
    cells: Markup


def matrix_rows(
    found: WinLoss,
    heads: Sequence[Head],
    state: Iterable[tuple[str, str]],
    chosen: tuple[int | None, int | None],
    *,
    wide: bool,
) -> tuple[Row, ...]:
    """The rows of the matrix.

    Args:
        found: The comparison.
        heads: Its combinations, in its order.
        state: The parameters of the page, which each cell's address keeps.
        chosen: Ids of the combinations of the chosen cell.
        wide: Whether a cell has room for both p-values.
    """
    matrix = found.matrix
    base = changed(state, a=None, b=None)
    glue = "&" if base else "?"
    # As lists of Python's own numbers: reading an array cell by cell would take longer than all the rest.
    wins, losses, p, holm_p = (array.tolist() for array in (matrix.wins, matrix.losses, matrix.p, matrix.holm_p))
    resolvable, needed = matrix.resolvable.tolist(), matrix.discordant_needed.tolist()
    rows = []
    for row, head in enumerate(heads):
        cells = []
        for column, other in enumerate(heads):
            if row == column:
                cells.append(Score("same", "", (), "", current=False))
                continue
            won, lost = wins[row][column], losses[row][column]
            resolved, possible = holm_p[row][column] <= found.alpha, resolvable[row][column]
            small = f"needs {needed[row][column]}" if not possible else _p(holm_p[row][column], "Holm " if wide else "")
            cells.append(
                Score(
                    kind_of(won, lost, resolved, possible),
                    f"+{won} {MINUS}{lost}",
                    (p_value(p[row][column]), small) if wide else (small,),
                    f"{base}{glue}a={head.id}&b={other.id}",
                    current=(head.id, other.id) == chosen,
                )
            )
        rows.append(Row(head, scores(cells, "pair")))
    return tuple(rows)


def kind_of(wins: int, losses: int, resolved: bool, resolvable: bool) -> str:
    """How a pair is shown: who is ahead, and whether that is resolved or ever could be."""
    if not resolvable:
        return "unresolved"
    if wins == losses:
        return "even"
    return ("won" if wins > losses else "lost") + (" clear" if resolved else "")


def _p(p: float, label: str = "") -> str:
    written = "<.0001" if p < 0.0001 else f"{p:.4f}" if p < 0.01 else f"{p:.3f}" if p < 0.1 else f"{p:.2f}"
    return f"{label}{written.removeprefix('0') if not label and p < 1 else written}"

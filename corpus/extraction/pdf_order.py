"""The lines of a PDF page in the order they are read in."""

from __future__ import annotations

from bisect import insort
from collections.abc import Sequence
from itertools import pairwise
from operator import ge

from corpus.extraction.pdf_lines import Line

_FAR = 3.0  # by height: what stands further away on the same height is another line
_FEW = 2  # lines out of order that any page may have: its header drawn last, for one
_LEAST_CUT = 6  # lines that run across a gutter
_STRIPES = 12
_SEVERAL = 3  # a footer drawn first is no disorder
_FEW_RISES = 5  # from one line to the next
_COLUMN_WORDS = 3.0  # of a line on average: fewer are cells of a table


def reading_order(lines: Sequence[Line]) -> list[Line]:
    """Return a page's lines in reading order, parts of one line joined.

    What was drawn in a sensible order stays in it: programs that set columns draw them one after the other. Where
    lines were drawn across columns they are cut at the gutter, and where they were drawn in no order they are sorted.
    """
    turned = [line for line in lines if line.turned]
    if turned:
        return [*reading_order([line for line in lines if not line.turned]), *turned]
    whole = _joined(lines)
    gutter = _gutter(whole)
    if gutter is not None:
        return _by_columns(_cut(whole, gutter), gutter)
    if _disorder(whole) > _FEW + len(whole) // 20:
        found = _white_gutter(whole)
        return _joined(_by_columns(whole, found) if found is not None else _downwards(whole))
    return whole


def _joined(lines: Sequence[Line]) -> list[Line]:
    """Join pieces of one line that were drawn one after the other: exponents, words in another font, cells."""
    found = list(lines[:1])
    for line in lines[1:]:
        last = found[-1]
        distance = line.left - last.right
        if distance >= -0.5 * last.size and _goes_on(last, line, distance):  # most lines begin left of where one ends
            space = " " if distance > 0.15 * min(line.size, last.size) else ""
            found[-1] = last._replace(
                text=f"{last.text}{space}{line.text}",
                right=line.right,
                size=max(last.size, line.size),
                bottom=min(last.bottom, line.bottom),
                top=max(last.top, line.top),
                end_top=line.end_top,
                bold=last.bold and line.bold,
                gaps=last.gaps + tuple(gap._replace(at=gap.at + len(last.text) + len(space)) for gap in line.gaps),
                is_row=last.is_row or line.is_row or distance > 1.5 * line.size,
            )
        else:
            found.append(line)
    return found


def _goes_on(last: Line, line: Line, distance: float) -> bool:
    if distance > _FAR * max(last.size, line.size) or last.turned or line.turned:
        return False
    overlap = min(last.top, line.top) - max(last.bottom, line.bottom)
    return overlap > 0.4 * min(last.top - last.bottom, line.top - line.bottom) and not last.hyphenated


def _gutter(lines: Sequence[Line]) -> float | None:
    """Return where a gutter runs through lines that were drawn across two columns of words, if one does."""
    spaces = [(left, right, line, at) for line in lines if line.gaps for left, right, at in line.gaps]
    if len(spaces) < _LEAST_CUT:
        return None
    wide = [line for line in lines if len(line.text) > 40]
    best: list[tuple[float, float, Line, int]] = []
    for left, right, _, _ in spaces:
        middle = (left + right) / 2
        through = [one for one in spaces if one[0] <= middle <= one[1]]
        if len(through) > len(best):
            best = through
    if len(best) < _LEAST_CUT or len(best) * 2 < len(wide):
        return None
    words = [len(part.split()) for _, _, line, at in best for part in (line.text[:at], line.text[at:])]
    if sum(words) / len(words) < _COLUMN_WORDS or any(len(line.gaps) > 2 for _, _, line, _ in best):
        return None
    return (max(one[0] for one in best) + min(one[1] for one in best)) / 2


def _cut(lines: Sequence[Line], gutter: float) -> list[Line]:
    """Cut lines in two where the gutter runs through one of their gaps."""
    found: list[Line] = []
    for line in lines:
        gap = next((one for one in line.gaps if one[0] <= gutter <= one[1]), None)
        if gap is None:
            found.append(line._replace(is_row=False))
            continue
        left, right, at = gap
        found.append(line._replace(text=line.text[:at].rstrip(), right=left, gaps=(), is_row=False))
        found.append(line._replace(text=line.text[at:].lstrip(), left=right, gaps=(), is_row=False))
    return found


def _white_gutter(lines: Sequence[Line]) -> float | None:
    """Return the middle of a white stripe with at least a third of the lines on either side, if there is one."""
    edges = sorted({round(line.right) + 1 for line in lines})
    for edge in edges:
        left = sum(1 for line in lines if line.right < edge)
        right = sum(1 for line in lines if line.left > edge)
        if min(left, right) * 3 >= len(lines) and left + right >= 0.8 * len(lines):
            behind = min(line.left for line in lines if line.left > edge)
            return (edge + behind) / 2
    return None


def _by_columns(lines: Sequence[Line], gutter: float) -> list[Line]:
    """Order lines down the left column, then down the right; a line across both begins anew below it."""
    found: list[Line] = []
    left: list[Line] = []
    right: list[Line] = []
    for line in _downwards(lines):
        if line.right <= gutter:
            left.append(line)
        elif line.left >= gutter:
            right.append(line)
        else:
            found += [*left, *right, line]
            left, right = [], []
    return [*found, *left, *right]


def _downwards(lines: Sequence[Line]) -> list[Line]:
    """Order lines from top to bottom, those of one height from left to right."""
    rows: list[list[Line]] = []
    for line in sorted(lines, key=lambda line: -(line.top + line.bottom)):
        middle = (line.top + line.bottom) / 2
        if rows and rows[-1][0].bottom <= middle <= rows[-1][0].top:
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.left)]


def _disorder(lines: Sequence[Line]) -> int:
    """Count the lines that stand above several that were drawn before them in the same place of the page's width."""
    bottoms = [line.bottom for line in lines]
    if not any(map(ge, bottoms[1:], [line.top for line in lines])):
        return 0
    left = min([line.left for line in lines])
    stripe = (max([line.right for line in lines]) - left + 1) / _STRIPES
    if _is_by_columns(lines, bottoms, left, stripe):
        return 0
    lowest = [[float("inf")] * _SEVERAL for _ in range(_STRIPES)]  # bottoms of what was drawn there, rising
    found = 0
    for line, bottom in zip(lines, bottoms, strict=True):
        is_above = False
        for there in lowest[int((line.left - left) / stripe) : int((line.right - left) / stripe) + 1]:
            last = there[-1]
            if bottom < last:
                insort(there, bottom)
                there.pop()
            elif last < bottom - 1:
                is_above = True
        found += is_above
    return found


def _is_by_columns(lines: Sequence[Line], bottoms: Sequence[float], left: float, stripe: float) -> bool:
    """Tell whether lines run down a few times, never past several that were drawn before: in columns, as a rule."""
    rises = [place for place in range(1, len(lines)) if bottoms[place] > bottoms[place - 1]]
    if len(rises) > _FEW_RISES:
        return False
    for start, end in pairwise([*rises, len(lines)]):
        lowest = min(bottoms[:start])
        column = [line for line in lines[start:end] if line.bottom - 1 > lowest]  # no footer
        if column:
            first = left + stripe * int((min([line.left for line in column]) - left) / stripe)
            after = left + stripe * int((max([line.right for line in column]) - left) / stripe + 1)
            top = column[0].bottom - 1
            under = [line for line in lines[:start] if line.bottom < top and line.right >= first and line.left < after]
            if len(under) >= _SEVERAL:
                return False
    return True


def page_pitch(lines: Sequence[Line]) -> float:
    """Return the usual distance of a line from the next, 0 on a page without neighbours."""
    tops = [line.top for line in lines[1:]]
    steps = sorted(
        [step for line, top in zip(lines, tops, strict=False) if 0 < (step := line.end_top - top) < 4 * line.size]
    )
    return steps[len(steps) // 2] if steps else 0.0

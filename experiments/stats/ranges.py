"""How well returned ranges of text cover wanted ones: precision, recall and intersection over union, by length.

What the literature on chunking calls token-level scores, with characters in place of tokens, so that they depend on no
tokeniser. A wanted character counts once, however often it is returned; a returned one counts every time, since every
repetition is read.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from experiments.stats.checks import IntArray


class RangeScores(NamedTuple):
    """How returned ranges cover wanted ones.

    Attributes:
        found: Wanted characters that were returned, each once.
        wanted: Wanted characters.
        returned: Returned characters, repetitions included.
    """

    found: int
    wanted: int
    returned: int

    @property
    def precision(self) -> float | None:
        """Share of what was returned that was wanted; None where nothing was returned."""
        return self.found / self.returned if self.returned else None

    @property
    def recall(self) -> float | None:
        """Share of what was wanted that was returned; None where nothing was wanted."""
        return self.found / self.wanted if self.wanted else None

    @property
    def iou(self) -> float | None:
        """Found over what was returned or wanted: of `found`, only what is not counted twice; None where neither is."""
        either = self.returned + self.wanted - self.found
        return self.found / either if either else None


def range_scores(wanted: npt.ArrayLike, returned: npt.ArrayLike) -> RangeScores:
    """Compare ranges of one text.

    Args:
        wanted: Shape (n, 2). Half-open ranges, in any order, overlaps allowed.
        returned: Shape (m, 2). Likewise.

    Raises:
        ValueError: If the shapes are others, or a range ends before it starts.

    References:
        Smith and Troynikov, "Evaluating chunking strategies for retrieval", Chroma technical report, 2024.
    """
    want, back = _ranges("wanted", wanted), _ranges("returned", returned)
    return RangeScores(_shared(want, back), _covered(want), int((back[:, 1] - back[:, 0]).sum()))


def precision_omega(wanted: npt.ArrayLike, pieces: npt.ArrayLike) -> float | None:
    """Return the best precision a cutting allows: that of all pieces that hold a wanted character, and no others.

    A character is counted once however many pieces hold it, and wanted characters that no piece holds count as
    returned, so that a cutting gains nothing by losing them.

    Args:
        wanted: Shape (n, 2). Half-open ranges.
        pieces: Shape (m, 2). The ranges of all pieces of the same text.

    Returns:
        The share in [0, 1]; None where nothing is wanted.

    References:
        Smith and Troynikov, "Evaluating chunking strategies for retrieval", Chroma technical report, 2024.
    """
    want, all_pieces = _ranges("wanted", wanted), _ranges("pieces", pieces)
    if not _covered(want):
        return None
    want = want[want[:, 0] < want[:, 1]]  # an empty range is held by nothing
    meet = (want[:, 0] < all_pieces[:, 1:]) & (all_pieces[:, :1] < want[:, 1])  # (m, n)
    held = all_pieces[meet.any(axis=1)]
    return _shared(want, held) / _covered(np.concatenate([held, want]))


def _ranges(name: str, ranges: npt.ArrayLike) -> IntArray:
    array: IntArray = np.asarray(ranges, np.int64).reshape(-1, 2) if np.size(ranges) == 0 else np.asarray(ranges)
    if array.ndim != 2 or array.shape[1] != 2 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be whole numbers of shape (n, 2), got shape {array.shape} of {array.dtype}")
    if (array[:, 0] > array[:, 1]).any():
        place = int(np.argmax(array[:, 0] > array[:, 1]))
        raise ValueError(f"{name} ends before it starts at index {place}: {array[place].tolist()}")
    return array.astype(np.int64)


def _covered(ranges: IntArray) -> int:
    """Length of the union: each range adds what lies behind all that end before it."""
    ordered = ranges[np.argsort(ranges[:, 0], kind="stable")]
    if not len(ordered):
        return 0
    reached = np.concatenate([ordered[:1, 0], np.maximum.accumulate(ordered[:, 1])[:-1]])
    return int(np.maximum(ordered[:, 1] - np.maximum(ordered[:, 0], reached), 0).sum())


def _shared(left: IntArray, right: IntArray) -> int:
    return _covered(left) + _covered(right) - _covered(np.concatenate([left, right]))

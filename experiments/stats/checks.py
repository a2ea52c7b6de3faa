"""Validation of arguments: every function of this package refuses what it cannot judge, naming the value."""

import operator
from typing import NamedTuple, SupportsIndex

import numpy as np
import numpy.typing as npt

BoolArray = npt.NDArray[np.bool_]
IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]


class Groups(NamedTuple):
    """Which group each item belongs to.

    Attributes:
        codes: Shape (n,). Group number of each item, from 0, in the order of the sorted labels.
        total: How many groups there are.
    """

    codes: IntArray
    total: int


def integer(name: str, value: SupportsIndex, least: int = 0) -> int:
    """Return `value` as an int that is at least `least`."""
    try:
        number = operator.index(value)
    except TypeError:
        raise ValueError(f"{name} must be an integer, got {value!r}") from None
    if number < least:
        raise ValueError(f"{name} must be at least {least}, got {number}")
    return number


def open_fraction(name: str, value: float) -> float:
    """Return `value` if it lies strictly between 0 and 1."""
    if not 0.0 < value < 1.0:
        raise ValueError(f"{name} must lie strictly between 0 and 1, got {value!r}")
    return float(value)


def closed_fraction(name: str, value: float) -> float:
    """Return `value` if it lies between 0 and 1, both included."""
    if not 0.0 <= value <= 1.0:
        raise ValueError(f"{name} must lie between 0 and 1, got {value!r}")
    return float(value)


def bools(name: str, values: npt.ArrayLike, dimensions: int = 1) -> BoolArray:
    """Return a boolean array of the given number of dimensions; numbers are refused, not guessed at."""
    array = np.asarray(values)
    if array.size and array.dtype != np.bool_:
        raise ValueError(f"{name} must be boolean, got dtype {array.dtype}")
    _require_dimensions(name, array, dimensions)
    return array.astype(np.bool_, copy=False)


def integers(name: str, values: npt.ArrayLike, dimensions: int | None = 1) -> IntArray:
    """Return an array of integers that are at least 0; `dimensions` None allows any shape."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"{name} must be integers, got dtype {array.dtype}")
    _require_dimensions(name, array, dimensions)
    if array.size and int(array.min()) < 0:
        raise ValueError(f"{name} must be at least 0, got {int(array.min())}")
    return array.astype(np.int64, copy=False)


def floats(name: str, values: npt.ArrayLike, dimensions: int = 1, *, finite: bool = True) -> FloatArray:
    """Return a float array without NaN; infinities only where `finite` is False."""
    array = np.asarray(values)
    if array.size and array.dtype.kind not in "biuf":
        raise ValueError(f"{name} must be numbers, got dtype {array.dtype}")
    _require_dimensions(name, array, dimensions)
    numbers = array.astype(np.float64, copy=False)
    bad = ~np.isfinite(numbers) if finite else np.isnan(numbers)
    if bad.any():
        place = tuple(int(index) for index in np.argwhere(bad)[0])
        raise ValueError(f"{name} holds {numbers[place]} at index {place[0] if dimensions == 1 else place}")
    return numbers


def same_length(**arrays: npt.NDArray[np.generic]) -> int:
    """Return the common length of the last axes, or name the lengths that differ."""
    lengths = {name: array.shape[-1] for name, array in arrays.items()}
    if len(set(lengths.values())) > 1:
        raise ValueError("lengths differ: " + ", ".join(f"{name} {length}" for name, length in lengths.items()))
    length: int = next(iter(lengths.values()))
    return length


def groups(name: str, labels: npt.ArrayLike, length: int) -> Groups:
    """Number the groups of `length` items; sorted labels make the numbering independent of input order."""
    array = np.asarray(labels)
    if array.shape != (length,):
        raise ValueError(f"{name} must have shape ({length},), got {array.shape}")
    if array.dtype.kind == "O" or (array.dtype.kind == "f" and bool(np.isnan(array).any())):
        raise ValueError(f"{name} must be all strings or all integers, none missing, got dtype {array.dtype}")
    unique, codes = np.unique(array, return_inverse=True)
    return Groups(codes.astype(np.int64, copy=False), len(unique))


def _require_dimensions(name: str, array: npt.NDArray[np.generic], dimensions: int | None) -> None:
    if dimensions is not None and array.ndim != dimensions:
        raise ValueError(f"{name} must have {dimensions} dimension(s), got shape {array.shape}")

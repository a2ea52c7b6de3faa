"""Paths into a JSON answer: names and list places joined by dots, `*` for every element of a list.

`hits.hits.*._source.text` reads `_source.text` of every element of the list `hits` in `hits`; `documents.0` is the
first element of `documents`, itself a list. An element that lacks what a path asks for gives None in its place and is
never dropped: texts, ids and scores must stay beside one another.
"""

from __future__ import annotations

from typing import Any

EVERY = "*"
_SHOWN_NAMES = 8


def parse(path: str) -> tuple[str, ...]:
    """Take a path apart.

    Raises:
        ValueError: If it is empty or has an empty step.
    """
    steps = tuple(path.strip().split("."))
    if not all(step.strip() for step in steps):
        raise ValueError(f"{path!r} is no path: write names joined by dots, as in hits.*.text")
    return steps


def read_list(path: str, value: Any) -> list[Any]:
    """The list a path leads to, one entry an element.

    Args:
        path: As `parse` takes it.
        value: A JSON value.

    Returns:
        What stands at the path; None where an element of a list lacks it. A null instead of a list is an empty one.

    Raises:
        ValueError: If the path leads nowhere, or to something that is no list; the message names the step.
    """
    steps = parse(path)
    found, walked = [value], ""
    inside = False  # of a list: from here on an element may lack something
    for step in steps:
        if step == EVERY:
            found = [element for one in found for element in _list(one, walked, path)]
            inside = True
        elif inside:
            found = [_of_element(one, step) for one in found]
        else:
            found = [_step(found[0], step, walked, path)]
        walked = f"{walked}.{step}" if walked else step
    return found if inside else _list(found[0], walked, path)


def _list(value: Any, walked: str, path: str) -> list[Any]:
    if value is None:
        return []
    if not isinstance(value, list):
        where = repr(walked) if walked else "the answer"
        raise ValueError(f"path {path!r}: {where} is {_kind(value)}, not a list")
    return value


def _step(value: Any, step: str, walked: str, path: str) -> Any:
    where = repr(walked) if walked else "the answer"
    if isinstance(value, dict):
        if step not in value:
            names = ", ".join(repr(str(name)[:40]) for name in list(value)[:_SHOWN_NAMES])
            raise ValueError(f"path {path!r}: {where} has no {step!r}, it has {names or 'nothing'}")
        return value[step]
    if isinstance(value, list) and step.isdigit():
        if int(step) >= len(value):
            raise ValueError(f"path {path!r}: {where} has {len(value)} elements, there is no number {step}")
        return value[int(step)]
    raise ValueError(f"path {path!r}: {where} is {_kind(value)}, there is no {step!r} in it")


def _of_element(value: Any, step: str) -> Any:
    if isinstance(value, dict):
        return value.get(step)
    if isinstance(value, list) and step.isdigit() and int(step) < len(value):
        return value[int(step)]
    return None


def _kind(value: Any) -> str:
    names = {dict: "an object", list: "a list", str: "a text", bool: "true or false", type(None): "null"}
    return names.get(type(value), "a number")

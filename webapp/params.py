"""Query strings, typed: every page's state is in its address, and a bad value is told apart from a missing one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote, urlencode

from flask import Flask, request, url_for
from werkzeug.datastructures import MultiDict

from webapp.errors import PageError

LONGEST_TEXT = 500
LONGEST_NAME = 4_096  # characters of a path
MOST_IDS = 200


class BadParameterError(PageError):
    """A parameter of the address that cannot be read."""

    status = 400
    title = "A parameter of this address cannot be read"

    def __init__(self, name: str, value: str, allowed: str) -> None:
        """Keep the parameter, what was given and what would be taken."""
        self.name, self.value, self.allowed = name, value, allowed
        shown = value if len(value) <= 80 else value[:77] + "..."
        super().__init__(f"{name} = {shown!r} is not allowed.", f"{name} may be {allowed}.")


def choice(args: Mapping[str, str], name: str, allowed: Sequence[str], default: str) -> str:
    """One of a few words; the default when absent or empty."""
    value = args.get(name) or default
    if value not in allowed and value != default:
        raise BadParameterError(name, value, "one of " + ", ".join(word for word in allowed if word))
    return value


def integer(args: Mapping[str, str], name: str, low: int, high: int, default: int) -> int:
    """A whole number in [low, high]."""
    raw = args.get(name) or ""
    if not raw:
        return default
    wanted = f"a whole number from {low} to {high}"
    if not (raw.isascii() and raw.removeprefix("-").isdecimal() and len(raw) <= 18):
        raise BadParameterError(name, raw, wanted)
    value = int(raw)
    if not low <= value <= high:
        raise BadParameterError(name, raw, wanted)
    return value


def integer_of(args: Mapping[str, str], name: str, allowed: Sequence[int], default: int) -> int:
    """One of a few whole numbers, such as the cutoffs k."""
    raw = args.get(name) or str(default)
    if raw not in {str(number) for number in allowed}:
        raise BadParameterError(name, raw, "one of " + ", ".join(str(number) for number in allowed))
    return int(raw)


def decimal(args: Mapping[str, str], name: str, low: float, high: float, default: float | None) -> float | None:
    """A finite decimal number in [low, high], written with a point."""
    raw = args.get(name) or ""
    if not raw:
        return default
    wanted = f"a number from {low:g} to {high:g}, written like 0.675"
    try:
        value = float(raw)
    except ValueError as error:
        raise BadParameterError(name, raw, wanted) from error
    if not math.isfinite(value) or not low <= value <= high:
        raise BadParameterError(name, raw, wanted)
    return value


def words(args: MultiDict[str, str], name: str, allowed: Sequence[str]) -> tuple[str, ...]:
    """Several of a few words, repeated or separated by commas, in the order of `allowed`; empty when absent."""
    given = [word.strip() for raw in args.getlist(name) for word in raw.split(",") if word.strip()]
    for word in given:
        if word not in allowed:
            raise BadParameterError(name, word, "one or more of " + ", ".join(allowed))
    return tuple(word for word in allowed if word in given)


def ids(args: MultiDict[str, str], name: str) -> tuple[int, ...]:
    """Row ids, repeated or separated by commas, without repetition and in the order given."""
    given = [word.strip() for raw in args.getlist(name) for word in raw.split(",") if word.strip()]
    for word in given:
        if not (word.isascii() and word.isdecimal() and len(word) <= 18):
            raise BadParameterError(name, word, "one or more whole numbers, separated by commas")
    if len(given) > MOST_IDS:
        raise BadParameterError(name, f"{len(given)} numbers", f"at most {MOST_IDS} numbers")
    return tuple(dict.fromkeys(int(word) for word in given))


def flag(args: Mapping[str, str], name: str) -> bool:
    """A tick box: 1 is on; 0, empty and absent are off."""
    raw = args.get(name) or "0"
    if raw not in {"0", "1"}:
        raise BadParameterError(name, raw, "0 or 1")
    return raw == "1"


def text(args: Mapping[str, str], name: str, longest: int = LONGEST_TEXT) -> str:
    """Free text without surrounding white space."""
    return exact({name: (args.get(name) or "").strip()}, name, longest)


def exact(args: Mapping[str, str], name: str, longest: int = LONGEST_NAME) -> str:
    """Text as it was given, the id of a document mostly: a file's name may begin or end with a space."""
    raw = args.get(name) or ""
    if len(raw) > longest:
        raise BadParameterError(name, raw, f"at most {longest} characters")
    return raw


def changed(pairs: Iterable[tuple[str, str]], **changes: object) -> str:
    """A query string with some parameters set anew (None removes one), the rest in their order.

    Returns:
        The string with its question mark, or an empty one when nothing is left.
    """
    kept = [(name, value) for name, value in pairs if name not in changes and value != ""]
    for name, value in changes.items():
        if isinstance(value, tuple | list):
            kept += [(name, ",".join(str(one) for one in value))] if value else []
        elif value is not None:
            kept.append((name, str(value)))
    return "?" + urlencode(kept) if kept else ""


def path() -> str:
    """This page's path as an address holds it: what an id has of `?`, `%` or `../` stays escaped."""
    if request.endpoint is None:
        return quote(request.path)
    return url_for(request.endpoint, **(request.view_args or {}))


def here(**changes: object) -> str:
    """This page's address with some parameters changed."""
    return path() + changed(request.args.items(multi=True), **changes)


def query_string() -> str:
    """This page's parameters, to be carried over to an export or a neighbouring page."""
    return changed(request.args.items(multi=True))


def register(app: Flask) -> None:
    """Give templates `here(...)` and `query_string()`."""
    app.jinja_env.globals.update(here=here, query_string=query_string)

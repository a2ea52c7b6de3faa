"""Reading `[retrievers.NAME]`: a team's own retrievers, typed, with every fault at once."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from corpus.faults import Fault
from experiments.conditions import OWN, RETRIEVERS, is_name
from experiments.own.function import load
from experiments.own.json_paths import parse
from experiments.own.spec import (
    CONCURRENCY,
    DEADLINE,
    RETRIES,
    Endpoint,
    Function,
    OwnRetriever,
    Results,
    Source,
    endpoint_faults,
)
from experiments.settings import Settings
from experiments.toml_tables import Table

_KINDS = ("callable", "url", "results")
_PATHS = ("texts", "ids", "scores", "documents", "starts", "ends")
_METHODS = ("GET", "POST", "PUT")
_HEADER = 'header names and values in quotes, as in { Authorization = "Bearer ${TOKEN}" }'


def own_retrievers(file: Path, tables: Any, faults: list[Fault]) -> dict[str, OwnRetriever]:
    """The retrievers of `[retrievers.NAME]` tables, by name; one with a fault is left out, and the fault is added."""
    if not isinstance(tables, Mapping):
        faults.append(Fault(str(file), None, str(tables), "retrievers: not a table", "write [retrievers.NAME]"))
        return {}
    found = {}
    for name, values in tables.items():
        before = len(faults)
        table = Table(file, f"retrievers.{name}", values, faults)
        if name in RETRIEVERS or name == OWN or not is_name(name):
            advice = f"choose 1 to 64 letters, digits, '_', '.' or '-', and none of {', '.join((*RETRIEVERS, OWN))}"
            table.fault("", name, "cannot be the name of a retriever of one's own", advice)
        own = _own(name, table)
        if own is not None and len(faults) == before:
            found[name] = own
    return found


def _own(name: str, table: Table) -> OwnRetriever | None:
    path = table.take("callable", str, None, "package.module:function in quotes")
    url = table.take("url", str, None, "an address in quotes")
    results = table.take("results", str, None, "a path in quotes")
    given = [kind for kind, value in zip(_KINDS, (path, url, results), strict=True) if value is not None]
    if len(given) != 1:
        which = " and ".join(given) or "none"
        table.fault("", which, "must have exactly one of callable, url and results", "say how it is asked")
        return None
    known = [*given, "chunks", "k", "version"]
    source: Source
    if path is not None:
        known += ["batch", "deadline", "concurrency"]
        source = Function(path, table.take("batch", bool, False, "true or false"))
        _check_path(path, table)
    elif url is not None:
        known += ["method", "headers", "request", *_PATHS, "deadline", "concurrency", "retries"]
        source = _endpoint(url, table)
    else:
        source = Results(results or "")
    own = OwnRetriever(
        name,
        source,
        chunks=table.take("chunks", str, None, "a path in quotes"),
        k=_at_least(table, "k", 0, 1),  # 0: as deep as the sweep looks
        version=table.take("version", str, None, "a text in quotes"),
    )
    if "deadline" in known:
        deadline = float(table.take("deadline", (int, float), DEADLINE, "a number of seconds"))
        if not 0 < deadline <= 3600:
            table.fault("deadline", deadline, "must be above 0 and at most 3600 seconds", f"{DEADLINE:g} is usual")
        default = CONCURRENCY if isinstance(source, Endpoint) else 1
        own = replace(own, deadline=deadline, concurrency=_at_least(table, "concurrency", default, 1))
    if "retries" in known:
        own = replace(own, retries=_at_least(table, "retries", RETRIES, 0))
    table.finish(", ".join(known))
    return own


def _check_path(path: str, table: Table) -> None:
    module, _, name = path.partition(":")
    parts = [*module.split("."), *name.split(".")]
    if ":" not in path or not all(part.isidentifier() for part in parts):
        table.fault("callable", path, "does not name a function", "write package.module:function")


def _endpoint(url: str, table: Table) -> Endpoint:
    wrong = endpoint_faults(url)
    if wrong:
        table.fault("url", url if "@" not in url else "...", wrong, "correct it")
    request = _request(table)
    method = table.take("method", str, "GET" if request is None else "POST", f"one of {', '.join(_METHODS)}").upper()
    if method not in _METHODS:
        table.fault("method", method, "unknown method", f"allowed are {', '.join(_METHODS)}")
    headers = table.take("headers", dict, {}, _HEADER)
    for name, value in headers.items():
        if not isinstance(value, str) or not name.isascii() or "\n" in value:
            table.fault("headers", name, "must be a text in quotes", _HEADER)
    if "{query}" not in url and "{query}" not in json.dumps(request):
        table.fault("", url, "no question is sent", "write {query} into request or url")
    paths = {}
    for name in _PATHS:
        written = table.take(name, str, None, "a path in quotes, as in hits.*.text")
        if written is not None:
            paths[name] = written
            try:
                parse(written)
            except ValueError as error:
                table.fault(name, written, str(error), "correct it")
    if "texts" not in paths and "ids" not in paths and not {"documents", "starts", "ends"} <= set(paths):
        table.fault("", url, "nothing says where the texts stand in the answer", 'write texts = "results.*.text"')
    pairs = tuple((str(name), str(value)) for name, value in headers.items())
    return Endpoint(url, method, pairs, request, paths)


def _request(table: Table) -> Any:
    """What is sent: a table, or the same as JSON in a text, in which `{k}` may stand without quotes."""
    request = table.take("request", (dict, str), None, "a table, or JSON in quotes")
    if not isinstance(request, str):
        return request
    try:
        return json.loads(request)
    except ValueError:
        pass
    try:
        return json.loads(request.replace("{k}", '"{k}"'))
    except ValueError as error:
        table.fault("request", request, f"is not JSON ({error})", 'write { query = "{query}", k = "{k}" }')
        return None


def _at_least(table: Table, key: str, default: int, least: int) -> int:
    number: int = table.take(key, int, default, "a whole number")
    if number < least and number != default:
        table.fault(key, number, f"must be at least {least}", "correct it")
    return number


def with_depths(settings: Settings, file: Path, faults: list[Fault]) -> tuple[OwnRetriever, ...]:
    """A sweep's own retrievers with their k: as deep as the sweep looks where none is given, never less deep."""
    deepest, found = max(settings.ks, default=0), []
    for one in settings.own:
        if 0 < one.k < deepest:
            table = Table(file, f"retrievers.{one.name}", {}, faults)
            advice = f"ask for {deepest}, or leave {deepest} out of [sweep] k"
            table.fault("k", one.k, f"so few results say nothing of R@{deepest}", advice)
        found.append(replace(one, k=one.k or deepest))
    return tuple(found)


def input_faults(settings: Settings, root: Path, file: Path) -> list[Fault]:
    """What is wrong with the retrievers of a sweep beyond their tables: nothing is asked, but functions are imported.

    Args:
        settings: Of the sweep.
        root: The project's folder.
        file: The project file, which the faults name.
    """
    faults: list[Fault] = []
    for own in settings.own:
        table = Table(file, f"retrievers.{own.name}", {}, faults)
        try:
            if isinstance(own.source, Function):
                load(own.source.path, root)
            elif isinstance(own.source, Endpoint):
                own.source.secrets()
        except ValueError as error:
            kind = "callable" if isinstance(own.source, Function) else "headers"
            table.fault(kind, own.source.words, str(error), "correct it, or set it before `bluffline run`")
    return faults

"""Which sweep somebody means: by its id or key, its commit, tag or branch, or whatever git knows under the name.

An exact name (id, tag, branch) comes before the beginning of a hash. A name that could mean different sweeps is
refused, and `kind:name` says which is meant. Of several sweeps of one commit, tag or branch the newest finished one is
meant; of a commit's, one without uncommitted changes first, because only that one measured the commit.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, get_args

from sqlalchemy import Engine

from experiments.provenance import commit_of
from experiments.words import listed, plural
from store import reads, reads_compare
from store.tables import SweepRow

Kind = Literal["sweep", "tag", "branch", "commit", "key"]
HOLDING_NUMBERS = ("finished", "running", "interrupted", "cancelled")
SHORTEST_HASH = 4  # characters
_HASH = re.compile(r"[0-9a-f]{4,64}")
_LONGEST_ID = 15  # digits
_NAMED = 8  # of each kind, where it is said what there is


class ReferenceUnknownError(LookupError):
    """There is no such sweep; the message says what there is."""


class ReferenceUnclearError(ValueError):
    """Several sweeps could be meant; the message says which."""


def find_sweep(engine: Engine, wanted: str, root: Path | None, but_not: SweepRow | None = None) -> SweepRow:
    """The sweep that a reference means.

    Args:
        engine: The store.
        wanted: `3`, `v1.2`, `main`, `HEAD`, `HEAD~1`, `0a1b2c3`, the beginning of a sweep's key, or one of them with
            its kind in front, such as `branch:main`.
        root: A folder of the repository that git is asked about; None to ask only the store.
        but_not: Of a branch, a sweep before this one and of another commit is meant.

    Raises:
        ReferenceUnknownError: If nothing here has this name, or nothing that holds numbers.
        ReferenceUnclearError: If it could mean different sweeps.
    """
    given, _, rest = wanted.partition(":")
    kinds: tuple[Kind, ...] = tuple(kind for kind in get_args(Kind) if kind == given and rest) or get_args(Kind)
    name = rest if len(kinds) == 1 else wanted
    meant = _meant(engine, name, kinds, but_not)
    if not meant and but_not is not None and name == but_not.branch:
        raise ReferenceUnknownError(f"no sweep of branch {name} is here from before sweep {but_not.id}'s commit")
    if not meant and root is not None and kinds[0] in ("sweep", "commit"):
        commit = commit_of(root, name)
        if commit is not None:
            meant = _meant(engine, commit, ("commit",), None)
            if not meant:
                what = "" if commit.startswith(name) else f" ({name})"
                raise ReferenceUnknownError(
                    f"commit {commit[:12]}{what} was not measured: check it out and `bluffline run`; {there(engine)}"
                )
    if not meant:
        raise ReferenceUnknownError(f"there is no sweep {wanted!r}; {there(engine)}")
    if len(meant) > 1 and len({row.id for row in meant.values()}) > 1:
        could = listed([f"{kind}:{name} (sweep {row.id})" for kind, row in meant.items()], "or")
        raise ReferenceUnclearError(f"{name!r} could mean {could}; say which")
    return next(iter(meant.values()))


def there(engine: Engine) -> str:
    """What sweeps there are and how they may be named, in one clause."""
    found = [row for row in reads.sweeps(engine) if row.state in HOLDING_NUMBERS]
    if not found:
        return "the store holds no sweep with numbers: make one with `bluffline run`"
    said = [plural(len(found), "sweep") + f" ({_few([str(row.id) for row in found])})"]
    for many, names in (
        ("branches", [row.branch for row in found]),
        ("tags", [row.tag for row in found]),
        ("commits", [row.commit and row.commit[:7] for row in found]),
    ):
        known = list(dict.fromkeys(name for name in names if name))
        said += [f"{many} {_few(known)}"] if known else []
    return f"the store holds {'; '.join(said)}"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")


def _meant(engine: Engine, name: str, kinds: Sequence[Kind], but_not: SweepRow | None) -> dict[Kind, SweepRow]:
    """The sweep each kind of name means; exact names only where there is one."""
    number = int(name) if name.isascii() and name.isdecimal() and len(name) <= _LONGEST_ID else None
    prefix = name.lower() if _HASH.fullmatch(name.lower()) else None
    rows = reads_compare.sweeps_named(engine, name, number=number, prefix=prefix)
    exact: dict[Kind, list[SweepRow]] = {
        "sweep": [row for row in rows if row.id == number],
        "tag": [row for row in rows if row.tag == name],
        "branch": [row for row in rows if row.branch == name and (but_not is None or _before(row, but_not))],
    }
    found = {kind: _one(kind, name, exact[kind]) for kind in kinds if exact.get(kind)}
    if found or prefix is None:
        return found
    begun: dict[Kind, list[SweepRow]] = {
        "commit": [row for row in rows if (row.commit or "").startswith(prefix)],
        "key": [row for row in rows if row.key.startswith(prefix)],
    }
    return {kind: _one(kind, name, begun[kind]) for kind in kinds if begun.get(kind)}


def _before(row: SweepRow, later: SweepRow) -> bool:
    """Whether a sweep was made before another one and, as far as is known, of another commit."""
    return (
        row.id != later.id and row.created_at <= later.created_at and (row.commit is None or row.commit != later.commit)
    )


def _one(kind: Kind, name: str, rows: Sequence[SweepRow]) -> SweepRow:
    """Of the sweeps of one name the one that is meant; `rows` newest first."""
    hashes = list(dict.fromkeys(str(row.commit if kind == "commit" else row.key) for row in rows))
    if kind in ("commit", "key") and len(hashes) > 1:
        several = listed([each[:12] for each in hashes[:_NAMED]], "or")
        raise ReferenceUnclearError(f"{name!r} begins several {kind}s: {several}; write more of it")
    if kind in ("sweep", "key"):
        allowed = [row for row in rows if row.state in HOLDING_NUMBERS]
    else:
        allowed = [row for row in rows if row.state == "finished"]
    if not allowed:
        states = listed([f"sweep {row.id} is {row.state}" for row in rows[:_NAMED]])
        hint = "; name one by its id" if any(row.state in HOLDING_NUMBERS for row in rows) else ""
        raise ReferenceUnknownError(f"{kind} {name} has no finished sweep: {states}{hint}" if kind != "sweep" else
                                    f"sweep {name} holds no numbers: it is {rows[0].state}")  # fmt: skip
    if kind == "commit":
        return next((row for row in allowed if not row.dirty), allowed[0])
    return allowed[0]

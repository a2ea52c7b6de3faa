"""Reading a question set for its page: as a sweep measured it, and as the project's files hold it now."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from flask import request

from corpus.check import CheckReport, check
from corpus.extraction.limits import Limits
from corpus.questions import Judgement, Needle, Query, Require, Stratum
from experiments.project import Project, ProjectError
from experiments.reading import observed_in
from experiments.recording import query_rows
from experiments.reviewing.question_planning import Discordance
from experiments.reviewing.question_set import set_change
from store import reads, reads_history
from store.needle_spans import needle_spans
from store.tables import QueryRow, SweepRow
from webapp import params
from webapp.contexts import question_tables
from webapp.contexts.question_tables import Checked, Choice
from webapp.dashboard import dashboard
from webapp.projects import project_here
from webapp.sweeps import UnknownSweepError, remember_sweep

SHOWN = 100


class Read(NamedTuple):
    """What was read."""

    queries: list[QueryRow]
    sweep: SweepRow | None
    sweeps: list[SweepRow]
    choice: Choice
    checked: Checked | None
    observed: Discordance | None  # between the sweep's combinations, at the chosen depth


def read(*, always_check: bool = False) -> Read:
    """The set the address names, and the check where it asks for one."""
    engine = dashboard().engine
    sweeps = reads_history.sweeps_before(engine, None, SHOWN)
    remember_sweep(next((sweep.id for sweep in sweeps if sweep.state == "finished"), None))
    sweep = _sweep(sweeps)
    choice = Choice(
        sweep=sweep.id if sweep else None,
        difference=(params.decimal(request.args, "points", 0.1, 100, 10.0) or 10.0) / 100,
        k=params.integer_of(request.args, "k", question_tables.ks_of(sweep), question_tables.ks_of(sweep)[-1]),
        target=(params.decimal(request.args, "target", 0.1, 50, 10.0) or 10.0) / 100,
        confidence=(params.decimal(request.args, "confidence", 50, 99.9, 95.0) or 95.0) / 100,
        check=params.flag(request.args, "check") or always_check,
    )
    queries = reads.queries(engine, sweep.questions_hash) if sweep else []
    checked = _check(queries) if choice.check or sweep is None else None
    if sweep is None and checked and checked.report:
        queries = query_rows(checked.report.queries, "")
    return Read(queries, sweep, _distinct(sweeps, sweep), choice, checked, observed_in(engine, sweep, choice.k))


def what() -> str:
    """What a check reads, in words."""
    here = dashboard()
    return f"the project in {here.root}" if here.has_project else "the bundled corpus"


def whole_set(which: str) -> tuple[list[Query], str]:
    """All questions of a set and a name for their file.

    Raises:
        NoProjectError: If the project is asked for and cannot be read.
        UnknownSweepError: If there is no sweep.
    """
    if which == "project":
        return list(_report(project_here()).queries), "questions"
    sweep = _sweep(reads_history.sweeps_before(dashboard().engine, None, SHOWN))
    if sweep is None:
        raise UnknownSweepError(0)
    rows = reads.queries(dashboard().engine, sweep.questions_hash)
    return [as_query(row) for row in rows], f"questions-{sweep.questions_hash[:12]}"


def as_query(row: QueryRow) -> Query:
    """A question as loading gives it. Key facts change no result and are not kept with a sweep."""
    needles = tuple(Needle(*span) for span in needle_spans(row))
    relevant = tuple(Judgement(**judgement) for judgement in row.relevant or ())
    require: Require = "all" if row.require == "all" else "any"
    stratum: Stratum | None = "near" if row.stratum == "near" else "far" if row.stratum == "far" else None
    line = row.position + 1
    return Query(row.query_id, row.text, needles, row.phrasing, stratum, (), line, require, relevant)


def _sweep(sweeps: Sequence[SweepRow]) -> SweepRow | None:
    """The sweep the address names; the newest finished one, or the newest there is, when it names none."""
    wanted = params.integer(request.args, "sweep", 1, 2**53, 0)
    if wanted:
        found = next((sweep for sweep in sweeps if sweep.id == wanted), None)
        row = found or reads.sweep(dashboard().engine, wanted)
        if row is None:
            raise UnknownSweepError(wanted)
        return row
    return next((sweep for sweep in sweeps if sweep.state == "finished"), next(iter(sweeps), None))


def _distinct(sweeps: Sequence[SweepRow], shown: SweepRow | None) -> list[SweepRow]:
    """The newest sweep of each question set, and for the set that is shown the sweep that was asked for."""
    found = {sweep.questions_hash: sweep for sweep in reversed(sweeps)}
    if shown is not None:
        found[shown.questions_hash] = shown
    return list(found.values())[::-1]


def _check(queries: Sequence[QueryRow]) -> Checked:
    try:
        report = _report(dashboard().project())
    except ProjectError as error:
        return Checked(None, None, str(error))
    return Checked(report, set_change(queries, query_rows(report.queries, "")), "")


def _report(project: Project) -> CheckReport:
    """Checked anew whenever a file has changed: size and time of change of every file say whether one has."""
    return _checked(
        project.documents,
        project.questions,
        project.strip_front_matter,
        tuple(project.strip_bibliography),
        project.extraction,
        project.extracted,
        _state(project.documents, project.questions),
    )


@lru_cache(maxsize=2)
def _checked(
    documents: Path,
    questions: Path,
    front_matter: bool,
    bibliography: tuple[str, ...],
    limits: Limits,
    cache: Path,
    _state: object,
) -> CheckReport:
    return check(
        documents,
        questions,
        strip_front_matter=front_matter,
        strip_bibliography=bibliography,
        limits=limits,
        cache=cache,
    )


def _state(documents: Path, questions: Path) -> tuple[tuple[str, int, int], ...]:
    files = [questions, documents, *sorted(path for path in documents.rglob("*") if path.is_file())]
    found = []
    for path in files:
        try:
            seen = path.stat()
        except OSError:  # gone since it was listed, or the questions file is missing: the check says so
            continue
        found.append((str(path), seen.st_size, seen.st_mtime_ns))
    return tuple(found)

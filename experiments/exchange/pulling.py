"""Pulling: sweeps that others logged become sweeps of this store, with all they recorded.

Only what is new or has changed is fetched: the hash of a sweep's file is a tag of its run. What cannot be read is told
in one line, and the others go on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from sqlalchemy import Engine

from experiments.exchange.fetching import Fetcher
from experiments.ledger_files import (
    COMBINATION_FILE,
    CORPUS_FILES,
    OUTCOMES_FILE,
    QUESTION_FILES,
    SWEEP_FILE,
    SweepRecord,
    digest,
    read_combination_file,
    read_input_file,
    read_sweep_file,
)
from experiments.recording import from_parquet, outcome_rows
from experiments.row_files import UnreadableFileError
from experiments.run_writing import RECORD_TAG
from experiments.words import plural
from store import writes
from store.reads_exchange import combination_lines, every_sweep, has_corpus, has_questions
from store.tables import CombinationRow, SweepRow
from store.writes_exchange import HALF_WRITTEN, PulledCombination, keep_sweep, remove_pulled

Tell = Callable[[str, int, int], None]  # stage, done, total
_PAGE = 1000  # runs of one answer


class Pulled(NamedTuple):
    """What one pull brought."""

    new: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    others: int = 0  # runs of other programs in the experiment, left alone
    faults: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what is as it should be, and yet worth a word


class _Run(NamedTuple):
    """A sweep's run as the list of runs shows it."""

    run_id: str
    key: str
    hash: str | None


class _Found(NamedTuple):
    """A sweep that is to be kept."""

    run: _Run
    record: SweepRecord
    hash: str  # of the file that was read, which may be newer than the tag


def pull_sweeps(
    engine: Engine, fetcher: Fetcher, client: Any, experiment: tuple[str, str], uri: str, tell: Tell
) -> Pulled:
    """Bring the store up to what the server holds.

    Args:
        engine: The store.
        fetcher: Reads files of runs.
        client: MLflow's client.
        experiment: Id and name.
        uri: Tracking URI.
        tell: Told how far it is.

    Returns:
        What came, and a line for each thing that could not be read.

    Raises:
        TrackingError: If the server went away; what was read by then is kept.
    """
    experiment_id, name = experiment
    tell("listing what the server holds", 0, 0)
    runs, faults = _listed(client, experiment_id)
    known = {row.key: row for row in every_sweep(engine)}
    there = {run.key for run in runs}
    missing = [row for row in known.values() if row.mlflow_uri == uri and row.key not in there]
    gone = [row.id or 0 for row in missing if row.pulled_from == name]
    notes = [
        f"sweep {row.id} was made here and is not on the server any more; it stays here and is not logged again"
        for row in missing
        if row.pulled_from is None and row.state != "running"
    ]
    removed = remove_pulled(engine, gone) if gone else 0
    changed = [run for run in runs if _has_changed(run, known.get(run.key))]
    found: list[_Found] = []
    for place, run in enumerate(changed):
        tell("reading what is new", place, len(changed))
        try:
            found.append(_read(fetcher, run))
        except UnreadableFileError as error:
            faults.append(_told(run, str(error)))
    new = updated = 0
    for place, one in enumerate(sorted(found, key=_age)):
        tell("fetching sweeps", place, len(found))
        try:
            faults += _keep(engine, fetcher, one, name, uri)
        except (UnreadableFileError, ValueError) as error:
            faults.append(_told(one.run, str(error)))
            continue
        new += one.run.key not in known
        updated += one.run.key in known
    return Pulled(
        new, updated, len(runs) - len(changed), removed, _others(client, experiment_id), tuple(faults), tuple(notes)
    )


def _listed(client: Any, experiment_id: str) -> tuple[list[_Run], list[str]]:
    """The runs of sweeps, one a key, and a line for each that is no sweep or stands there twice."""
    runs: dict[str, _Run] = {}
    faults: list[str] = []
    for found in all_runs(client, experiment_id, "tags.`bluffline.kind` = 'sweep'"):
        tags = found.data.tags
        run = _Run(found.info.run_id, tags.get("bluffline.sweep", ""), tags.get(RECORD_TAG))
        if not run.key:
            faults.append(f"run {run.run_id} says that it is a sweep and does not say which; it was left alone")
        elif run.hash is None:
            faults.append(_told(run, "nothing is written down of it yet, or an older Bluffline wrote it"))
        elif run.key in runs:
            faults.append(_told(run, f"it stands there twice; run {runs[run.key].run_id} was read"))
        else:
            runs[run.key] = run
    return list(runs.values()), faults


def _others(client: Any, experiment_id: str) -> int:
    """How many runs other programs logged to the same experiment; 0 where the server is too old to be asked."""
    try:
        return len(all_runs(client, experiment_id, "tags.`bluffline.kind` IS NULL"))
    except Exception:  # a count beside the point: what was read stays read
        return 0


def all_runs(client: Any, experiment_id: str, where: str) -> list[Any]:
    """Every active run that a filter finds, the oldest first, page by page."""
    found: list[Any] = []
    token = None
    while True:
        page = client.search_runs(
            [experiment_id], where, max_results=_PAGE, order_by=["attributes.start_time ASC"], page_token=token
        )
        found += page
        token = getattr(page, "token", None)
        if not token:
            return found


def _has_changed(run: _Run, known: SweepRow | None) -> bool:
    if known is None:
        return True
    return known.pulled_from is not None and (known.mlflow_record != run.hash or known.mlflow_run_id != run.run_id)


def _read(fetcher: Fetcher, run: _Run) -> _Found:
    data = fetcher.file(run.run_id, SWEEP_FILE)
    record = _named(SWEEP_FILE, read_sweep_file, data)
    if record.sweep.key != run.key:
        raise UnreadableFileError(f"{SWEEP_FILE}: it is that of another sweep")
    return _Found(run, record, digest(data))


def _named(name: str, read: Callable[..., Any], *arguments: Any) -> Any:
    """Read a file's content, and say which file it was that could not be read."""
    try:
        return read(*arguments)
    except UnreadableFileError as error:
        raise UnreadableFileError(f"{name}: {error}") from error


def _age(one: _Found) -> tuple[Any, int, str]:
    """In the order in which they were made, so that numbers come out as they were."""
    return one.record.sweep.created_at, one.record.number or 0, one.run.key


def _keep(engine: Engine, fetcher: Fetcher, one: _Found, experiment: str, uri: str) -> list[str]:
    """Fetch what is missing of one sweep and write it.

    Returns:
        A line for each combination that could not be read.
    """
    sweep = one.record.sweep
    _keep_inputs(engine, fetcher, one)
    here = {row.key: row.id or 0 for row in every_sweep(engine)}.get(sweep.key)
    lines = combination_lines(engine, [here]).get(here, []) if here else []
    held = {row.mlflow_run_id for row in lines if row.state == "recorded" and row.mlflow_run_id}
    combinations, faults = [], []
    for row in one.record.combinations:
        if row.state == "recorded" and row.mlflow_run_id in held:
            continue
        try:
            combinations.append(_combination(fetcher, row))
        except UnreadableFileError as error:
            faults.append(_told(one.run, f"{row.key}: {error}"))
            reason = f"what it recorded cannot be read from {uri}: {error}"
            combinations.append(PulledCombination(_failed(row, reason)))
    sweep.mlflow_uri, sweep.mlflow_run_id, sweep.pulled_from = uri, one.run.run_id, experiment
    sweep.mlflow_record = None if faults else one.hash  # what could not be read is tried again next time
    if sweep.state in ("running", "queued"):
        sweep.state, sweep.reason = "interrupted", _half_written(sweep, one.record.combinations)
    wanted = {row.mlflow_run_id for row in one.record.combinations}
    keep_sweep(engine, sweep, one.record.number, combinations, [run for run in held if run in wanted])
    return faults


def _keep_inputs(engine: Engine, fetcher: Fetcher, one: _Found) -> None:
    sweep, run_id = one.record.sweep, one.run.run_id

    def rows(name: str, expected: str) -> list[Any]:
        found: list[Any] = _named(name, read_input_file, name, fetcher.file(run_id, name), expected)
        return found

    if not has_corpus(engine, sweep.corpus_hash):
        documents, texts = (rows(name, sweep.corpus_hash) for name in CORPUS_FILES)
        writes.add_corpus(engine, documents, texts)
    if not has_questions(engine, sweep.questions_hash):
        (questions,) = (rows(name, sweep.questions_hash) for name in QUESTION_FILES)
        writes.add_questions(engine, questions)


def _combination(fetcher: Fetcher, row: CombinationRow) -> PulledCombination:
    if row.state != "recorded":
        return PulledCombination(row)
    if row.mlflow_run_id is None:
        raise UnreadableFileError("no run is named for it")
    parquet = fetcher.file(row.mlflow_run_id, OUTCOMES_FILE)
    whole, measures = _named(
        COMBINATION_FILE, read_combination_file, fetcher.file(row.mlflow_run_id, COMBINATION_FILE), parquet
    )
    try:
        outcomes = outcome_rows(0, from_parquet(parquet))
    except ValueError as error:
        raise UnreadableFileError(f"{OUTCOMES_FILE}: {error}") from error
    whole.mlflow_run_id = row.mlflow_run_id
    return PulledCombination(whole, measures, outcomes, parquet)


def _failed(row: CombinationRow, reason: str) -> CombinationRow:
    return row.model_copy(update={"state": "failed", "reason": reason, "mlflow_run_id": None})


def _half_written(sweep: SweepRow, combinations: Sequence[CombinationRow]) -> str:
    done = sum(row.state == "recorded" for row in combinations)
    return (
        f"{HALF_WRITTEN}: {done} of {plural(len(combinations), 'combination')} logged; it is still being measured on "
        f"{sweep.host or 'another machine'}, or was killed there; the next sync looks again"
    )


def _told(run: _Run, what: str) -> str:
    return f"sweep {run.key[:8]} (run {run.run_id}): {what}"

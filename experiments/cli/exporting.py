"""`export`: a sweep in the formats of other tools."""

from __future__ import annotations

import re
from pathlib import Path

import click

from experiments.cli.options import project_option
from experiments.cli.sweeps import newest
from experiments.project import open_project
from experiments.provenance import document_level
from experiments.reading import load_sweep
from experiments.recording import from_parquet
from experiments.trec_files import qrels_lines, run_lines
from experiments.words import plural
from store import reads
from store.engine import open_store


@click.group("export")
def exporting() -> None:
    """Write a sweep as files of other tools."""


@exporting.command()
@click.argument("target", type=click.Path(file_okay=False, path_type=Path))
@click.argument("sweep", type=click.IntRange(1, 2**63 - 1), required=False)
@project_option
def trec(target: Path, sweep: int | None, folder: Path | None) -> None:
    """Write SWEEP (the newest when left out) into the folder TARGET: qrels.txt, and a run of each combination.

    Only sweeps of document-level relevance have judged documents. Nothing that is there is overwritten.
    """
    project = open_project(folder)
    engine = open_store(project.store_url)
    loaded = load_sweep(engine, sweep if sweep is not None else newest(engine))
    if not document_level(loaded.sweep.hit_rule):
        raise click.UsageError(
            f"sweep {loaded.sweep.id} is measured over needles ({loaded.sweep.hit_rule}): TREC files judge documents; "
            "`bluffline show --json` prints its numbers"
        )
    files = {"qrels.txt": qrels_lines(reads.queries(engine, loaded.sweep.questions_hash))}
    stored = reads.hits(engine, [row.id or 0 for row in loaded.recorded])
    for row in loaded.recorded:
        name = f"run-{re.sub(r'[^A-Za-z0-9._-]+', '-', row.key)}.txt"
        files[name] = run_lines(from_parquet(stored[row.id or 0]), row.key)
    taken = [name for name in files if (target / name).exists()]
    if taken:
        raise click.UsageError(f"{target / taken[0]} is there already; choose another folder, or move it away")
    target.mkdir(parents=True, exist_ok=True)
    for name, lines in files.items():
        with (target / name).open("x", encoding="utf-8", newline="\n") as stream:
            stream.writelines(lines)
    click.echo(f"wrote qrels.txt and {plural(len(files) - 1, 'run')} of sweep {loaded.sweep.id} into {target}")

"""`compare`: two sweeps side by side."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click
from sqlalchemy import Engine

from experiments.cli.options import FloatRange, project_option
from experiments.comparison_report import markdown, record, text
from experiments.project import open_project
from experiments.reviewing.baselines import read_baseline
from experiments.reviewing.references import find_sweep
from experiments.reviewing.sides import Line, Side, line_of, sides
from experiments.reviewing.whole_comparison import Comparison, compare, deepest, depths
from store.decisions import decision_in_force
from store.engine import open_store


@click.command(name="compare")
@project_option
@click.argument("a")
@click.argument("b", default="HEAD")
@click.option("--at", "k", type=click.IntRange(1), help="Depth k of R@k; the deepest both measured when left out.")
@click.option("--threshold", type=FloatRange(0, 2), help="Count bluffs at this cosine distance; at that of the "
              "decision in force when left out.")  # fmt: skip
@click.option("--format", "form", type=click.Choice(["text", "markdown", "json"]), default="text", show_default=True)
def compare_command(folder: Path | None, a: str, b: str, k: int | None, threshold: float | None, form: str) -> None:
    """Compare sweep A, the earlier, with sweep B: what was fixed, what broke, and whether the difference is real.

    A and B are each the id of a sweep, the beginning of its key, a commit, a tag, a branch (its newest finished sweep),
    HEAD or whatever else git knows, or a baseline file that `bluffline gate --save-baseline` wrote. Where a name could
    mean several, put its kind in front: sweep:, key:, commit:, tag: or branch:.

    Exits with 3 where nothing can be paired: another hit rule, or no question in common.
    """
    project = open_project(folder)
    engine = open_store(project.store_url)
    before, after = two_sides(engine, a, b, project.root)
    chosen = k if k is not None else max(depths(before, after))
    if chosen > deepest(before, after):
        raise click.UsageError(f"--at {chosen}: the two sweeps were measured down to k = {deepest(before, after)}")
    comparison = compare(before, after, chosen, _line(engine, after, threshold))
    click.echo(_written(comparison, form), nl=False)
    if comparison.may.claim == "nothing":
        sys.exit(3)


def two_sides(engine: Engine, a: str, b: str, root: Path) -> tuple[Side, Side]:
    """Both sides of a comparison, in the order given."""
    before, after = (_side(engine, wanted, root) for wanted in (a, b))
    return before, after


def _side(engine: Engine, wanted: str, root: Path) -> Side:
    if wanted.endswith(".json") or Path(wanted).is_file():
        return read_baseline(Path(wanted))
    return sides(engine, [find_sweep(engine, wanted, root)])[0]


def _line(engine: Engine, after: Side, threshold: float | None) -> Line | None:
    if threshold is not None:
        return Line(threshold, None, {}, ("near", "far"), "as asked")
    return line_of(decision_in_force(engine)) or after.line


def _written(comparison: Comparison, form: str) -> str:
    if form == "json":
        return json.dumps(record(comparison), indent=1, ensure_ascii=False, allow_nan=False) + "\n"
    return markdown(comparison) if form == "markdown" else text(comparison)

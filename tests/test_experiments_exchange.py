"""Exchange with the ledger: what one machine logs another reads, whole, once, and nothing is lost on the way."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from ledger_world import Machine, Machines, empty_ledger, machines
from made_sweeps import SETTINGS
from sqlmodel import Session, select
from web_worlds import BM25_E, DENSE_E, HYBRID_E, KS, reviewed

from experiments.deciding.choosing import ByHand
from experiments.deciding.decisions import decision_from, record
from experiments.deciding.evidence import Terms, consider
from experiments.deciding.finding import find_combination
from experiments.exchange.rebuilding import rebuild
from experiments.ledger_files import LOCAL
from experiments.reading import load_sweep
from experiments.tracking_client import TrackingError
from store import reads, reads_exchange, writes
from store.decisions import decision_in_force, decisions
from store.engine import StoreError, open_store
from store.locks import locked
from store.syncs import latest_sync
from store.tables import (
    CombinationRow,
    DecisionRow,
    DocumentRow,
    HitsRow,
    MeasureRow,
    OutcomeRow,
    QueryRow,
    SweepRow,
    TextRow,
)

__all__ = ["empty_ledger", "machines"]  # fixtures, which pytest finds by their names
NOON = datetime(2026, 5, 4, 12, tzinfo=UTC)
STRATEGIES = {"A": "cuts=blind;header=false;overlap=0;budget=512", **SETTINGS["strategies"]}


def measured(one: Machine, key: str, hours: float = 0, keys=(DENSE_E, BM25_E), **more: Any) -> int:
    """Record a sweep with one threshold, so that few runs are written."""
    settings = {**SETTINGS, "strategies": STRATEGIES, "k": list(KS), "thresholds": [0.5]}
    values = {"settings": settings, "created_at": NOON + timedelta(hours=hours), "host": "laptop", **more}
    return reviewed(one.engine, keys=keys, key=key * 32, **values)


def decide(one: Machine, sweep_id: int, threshold: float = 0.6, hours: float | None = None) -> DecisionRow:
    loaded = load_sweep(one.engine, sweep_id)
    evidence = consider(loaded, find_combination(loaded, DENSE_E), Terms(), [threshold])
    before = decision_in_force(one.engine)
    made = decision_from(evidence, evidence.choose(ByHand(threshold)), who="Ada", reason="It is safe.", project="p",
                         supersedes=before.id if before else None)  # fmt: skip
    if hours is not None:
        made.created_at = NOON + timedelta(hours=hours)
    return record(one.engine, made)


def contents(one: Machine) -> dict[str, list[dict[str, Any]]]:
    """Everything a store holds, numbers of rows replaced by what they stand for."""
    found: dict[str, list[dict[str, Any]]] = {}
    with Session(one.engine) as session:
        sweeps = {row.id: row.key for row in session.exec(select(SweepRow))}
        keys = {row.id: (sweeps[row.sweep_id], row.key) for row in session.exec(select(CombinationRow))}
        for table in (SweepRow, CombinationRow, MeasureRow, OutcomeRow, HitsRow, QueryRow, DocumentRow, TextRow):
            rows = []
            for row in session.exec(select(table)):
                plain = row.model_dump(exclude=set(LOCAL.get(table, {"combination_id"})))
                if isinstance(row, CombinationRow):
                    plain["sweep"] = sweeps[row.sweep_id]
                if isinstance(row, (MeasureRow, OutcomeRow, HitsRow)):
                    plain["combination"] = keys[row.combination_id]
                rows.append(plain)
            found[table.__tablename__] = sorted(rows, key=repr)
    return found


def states(one: Machine) -> dict[str, str]:
    return {row.key[0]: row.state for row in reads.sweeps(one.engine)}


def artifacts(one: Machine, run_id: str) -> Path:
    return Path(one.client.get_run(run_id).info.artifact_uri.removeprefix("file://")) / "bluffline"


def run_of(one: Machine, key: str, combination: str | None = None) -> Any:
    kind = "combination" if combination else "sweep"
    return next(run for run in one.runs(kind) if run.data.tags.get("bluffline.sweep") == key * 32
                and run.info.run_name == (combination or run.info.run_name))  # fmt: skip


def test_a_sweep_logged_by_one_machine_is_whole_on_another(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a", failed={HYBRID_E: "out of memory"}, keys=(DENSE_E, BM25_E, HYBRID_E), measured_in="0" * 32)
    measured(ci, "b", 1, corpus_hash="7" * 64, questions_hash="8" * 64, tag="v1", dirty=True)
    pushed = ci.sync()
    assert (pushed.pushed, pushed.runs, pushed.new, pushed.faults) == (2, 12, 0, ())
    pulled = team.sync()
    assert (pulled.pushed, pulled.new, pulled.faults) == (0, 2, ())
    assert contents(team) == contents(ci)
    assert {row.pulled_from for row in reads.sweeps(team.engine)} == {"bluffline"}
    assert team.ledger.waiting(team.engine) == []


def test_only_what_is_new_or_changed_is_fetched(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    ci.sync()
    assert team.sync().files == 1 + 3 + 2 * 2  # the sweep, its inputs, two combinations with two files each
    nothing = team.sync()
    assert (nothing.files, nothing.new, nothing.updated, nothing.unchanged) == (0, 0, 0, 1)
    measured(ci, "b", 1)
    ci.sync()
    assert team.sync().files == 1 + 2 * 2  # the inputs are here
    writes.update_sweep(ci.engine, 1, reason="a word more")
    ci.sync()
    changed = team.sync()
    assert (changed.files, changed.updated, changed.unchanged) == (1, 1, 1)
    row = next(row for row in reads.sweeps(team.engine) if row.key[0] == "a")
    assert row.reason == "a word more"


def test_numbers_of_sweeps_are_those_they_had_and_else_follow_in_order_of_making(machines: Machines) -> None:
    one, two, team = machines("one"), machines("two"), machines("team")
    for key, hours in (("a", 0), ("b", 2), ("d", 4)):
        measured(one, key, hours)
    measured(two, "c", 3)  # number 1 of its own store
    one.sync(pull=False)
    two.sync(pull=False)
    one.client.delete_run(run_of(one, "b").info.run_id)
    team.sync()
    assert [(row.id, row.key[0]) for row in reads.sweeps(team.engine)] == [(3, "d"), (2, "c"), (1, "a")]


def test_a_sweep_pulled_later_than_it_was_made_is_not_the_newest(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a", 0)
    measured(team, "b", 1)
    ci.sync()
    team.sync()
    assert [row.key[0] for row in reads.sweeps(team.engine)] == ["b", "a"]
    newest = reads.latest_sweep(team.engine, "finished")
    assert newest is not None
    assert newest.key[0] == "b"


def test_two_machines_lose_nothing_and_neither_logs_what_the_other_made(machines: Machines) -> None:
    one, two = machines("one"), machines("two")
    measured(one, "a", 0)
    measured(two, "b", 1)
    for _ in range(2):
        one.sync()
        two.sync()
    assert states(one) == states(two) == {"a": "finished", "b": "finished"}
    assert contents(one) == contents(two)
    assert len(one.runs("sweep")) == 2
    assert len(one.runs("combination")) == 4


def test_a_half_written_sweep_is_said_to_be_one_and_is_completed_by_the_next_sync(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    sweep_id = measured(ci, "a", state="running", queued=[BM25_E])
    ci.ledger.push(ci.engine, sweep_id)  # as a run does after each combination; then it is killed
    assert team.sync().new == 1
    (row,) = reads.sweeps(team.engine)
    assert row.state == "interrupted"
    assert row.reason is not None
    assert row.reason.startswith("half-written: 1 of 2 combinations logged; it is still being measured on laptop")
    assert reads.latest_sweep(team.engine, "finished") is None
    held = {one.key: one.id for one in reads.combinations(team.engine, row.id or 0)}
    other = machines("other")
    measured(other, "a")
    complete = next(one for one in reads.combinations(other.engine, 1) if one.key == BM25_E)
    here = next(one for one in reads.combinations(ci.engine, sweep_id) if one.key == BM25_E)
    writes.record_combination(
        ci.engine, here.id or 0, measured_in=None, stamp=complete.stamp,
        measures=[MeasureRow(**{**one.model_dump(), "combination_id": here.id})
                  for one in reads.measures(other.engine, 1)[complete.id or 0].values()],
        outcomes=[], parquet=reads.hits(other.engine, [complete.id or 0])[complete.id or 0],
    )  # fmt: skip
    writes.update_sweep(ci.engine, sweep_id, state="finished")
    ci.sync(pull=False)
    done = team.sync()
    assert (done.new, done.updated, done.files) == (0, 1, 1 + 2)  # the combination that was there stays
    (row,) = reads.sweeps(team.engine)
    assert (row.state, row.reason) == ("finished", None)
    rows = reads.combinations(team.engine, row.id or 0)
    assert [one.state for one in rows] == ["recorded", "recorded"]
    assert {one.key: one.id for one in rows}[DENSE_E] == held[DENSE_E]


def test_a_deleted_run_disappears_a_decision_on_it_stays_and_what_was_made_here_is_not_touched(
    machines: Machines,
) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    measured(ci, "b", 1)
    measured(team, "c", 2)
    ci.sync()
    team.sync(push=False)
    decide(team, next(row.id or 0 for row in reads.sweeps(team.engine) if row.key[0] == "a"))
    ci.client.delete_run(run_of(ci, "a").info.run_id)
    done = team.sync(push=False)
    assert (done.removed, done.faults, done.notes) == (1, (), ())
    assert states(team) == {"b": "finished", "c": "finished"}
    stays = decision_in_force(team.engine)
    assert stays is not None
    assert stays.sweep_key == "a" * 32
    done = ci.sync()  # made there: it stays there, and is not logged again behind somebody's back
    assert done.notes == (
        "sweep 1 was made here and is not on the server any more; it stays here and is not logged again",
    )
    assert done.pushed == 0
    assert states(ci) == {"a": "finished", "b": "finished"}


def test_a_server_that_lost_its_experiment_takes_nothing_away(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    ci.sync()
    team.sync()
    ci.client.delete_experiment(ci.ledger._connect()[1])
    done = team.sync()
    assert done.notes[0].endswith("has no experiment 'bluffline': nothing was read, nothing removed")
    assert states(team) == {"a": "finished"}


def spoil_sweep(change: Any) -> Any:
    def spoil(folder: Path) -> None:
        plain = json.loads((folder / "sweep.json").read_text("utf-8"))
        change(plain)
        (folder / "sweep.json").write_text(json.dumps(plain), "utf-8")

    return spoil


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "sweep.json").unlink(), "sweep.json: it is not there"),
        (lambda folder: (folder / "sweep.json").write_bytes(b'{"format": 1'), "sweep.json: it is damaged"),
        (spoil_sweep(lambda plain: plain.update(format=9)), "sweep.json: its format is 9, this version reads up to 1"),
        (spoil_sweep(lambda plain: plain["sweep"].update(mood=1)), "sweep.json: it holds mood, which this version"),
        (lambda folder: (folder / "questions.parquet").unlink(), "questions.parquet: it is not there"),
        (lambda folder: (folder / "texts.parquet").write_bytes(b"PAR1"), "texts.parquet: it is damaged"),
    ],
)
def test_a_sweep_that_cannot_be_read_is_told_in_a_line_and_the_others_go_on(
    machines: Machines, spoil: Any, said: str
) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a", questions_hash="1" * 64, corpus_hash="2" * 64)
    measured(ci, "b", 1)
    ci.sync()
    run = run_of(ci, "a")
    kept = artifacts(ci, run.info.run_id)
    shutil.copytree(kept, kept.parent / "whole")
    spoil(kept)
    done = team.sync()
    (line,) = done.faults
    assert line.startswith(f"sweep aaaaaaaa (run {run.info.run_id}): {said}")
    assert "\n" not in line
    assert states(team) == {"b": "finished"}
    shutil.rmtree(kept)
    (kept.parent / "whole").rename(kept)
    assert team.sync().new == 1  # mended there, it comes
    assert states(team) == {"a": "finished", "b": "finished"}


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda folder: (folder / "outcomes.parquet").unlink(), "outcomes.parquet: it is not there"),
        (lambda folder: (folder / "combination.json").write_bytes(b"{}"), "combination.json: an older Bluffline"),
        (
            lambda folder: (folder / "outcomes.parquet").write_bytes(b"PAR1" * 9),
            "combination.json: outcomes.parquet is damaged",
        ),
    ],
)
def test_a_combination_that_cannot_be_read_is_failed_with_the_reason_and_never_a_miss(
    machines: Machines, spoil: Any, said: str
) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    ci.sync()
    kept = artifacts(ci, run_of(ci, "a", BM25_E).info.run_id)
    shutil.copytree(kept, kept.parent / "whole")
    spoil(kept)
    done = team.sync()
    (line,) = done.faults
    assert said in line
    (row,) = reads.sweeps(team.engine)
    failed = next(one for one in reads.combinations(team.engine, row.id or 0) if one.state == "failed")
    assert failed.key == BM25_E
    assert failed.reason is not None
    assert said in failed.reason
    assert failed.id not in reads.measures(team.engine, row.id or 0)
    shutil.rmtree(kept)
    (kept.parent / "whole").rename(kept)
    assert team.sync().updated == 1
    assert contents(team) == contents(ci)


def test_foreign_half_begun_and_doubled_runs_are_told_and_left_alone(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    ci.sync()
    client, experiment = ci.ledger._connect()
    client.create_run(experiment, run_name="somebody's training")  # no word: it says of itself nothing of ours
    nameless = client.create_run(experiment, tags={"bluffline.kind": "sweep"}).info.run_id
    begun = client.create_run(
        experiment, tags={"bluffline.kind": "sweep", "bluffline.sweep": "b" * 32}, start_time=2**41
    ).info.run_id
    first = run_of(ci, "a")
    twin = client.create_run(experiment, tags=first.data.tags, start_time=2**41).info.run_id
    done = team.sync()
    assert (done.new, done.others) == (1, 1)
    assert sorted(done.faults) == sorted(
        [
            f"run {nameless} says that it is a sweep and does not say which; it was left alone",
            f"sweep bbbbbbbb (run {begun}): nothing is written down of it yet, or an older Bluffline wrote it",
            f"sweep aaaaaaaa (run {twin}): it stands there twice; run {first.info.run_id} was read",
        ]
    )


def test_decisions_come_with_their_sweeps_in_the_order_they_were_made(machines: Machines) -> None:
    one, two, three = machines("one"), machines("two"), machines("three")
    measured(one, "a")
    decide(one, 1, 0.5, hours=1)
    assert one.sync().decisions_pushed == 1
    assert two.sync().decisions == 1
    decide(one, 1, 0.55, hours=2)
    decide(two, 1, 0.6, hours=3)  # both have seen the first alone
    for who in (one, two, one, three):
        who.sync()
    assert len(one.runs("decision")) == 3
    for who in (one, two, three):
        thresholds = [(row.threshold, row.sweep_id) for row in decisions(who.engine)]
        assert thresholds == [(0.6, 1), (0.55, 1), (0.5, 1)]
        found = {row.id: row for row in decisions(who.engine)}
        assert [found[row.supersedes].threshold for row in decisions(who.engine) if row.supersedes] == [0.55, 0.5]
    again = decide(two, 1, 0.7, hours=4)  # in force is what was decided last, whatever number it has here
    assert again.supersedes == next(row.id for row in decisions(two.engine) if row.threshold == 0.6)
    assert three.sync().decisions == 0
    two.sync()
    assert three.sync().decisions == 1
    in_force = decision_in_force(three.engine)
    assert in_force is not None
    assert (in_force.threshold, in_force.key, in_force.evidence) == (0.7, again.key, again.evidence)


def test_a_deleted_decision_stays_and_is_logged_again(machines: Machines) -> None:
    one, two = machines("one"), machines("two")
    measured(one, "a")
    made = decide(one, 1)
    one.sync()
    two.sync()
    (run,) = one.runs("decision")
    one.client.delete_run(run.info.run_id)
    assert two.sync().decisions_pushed == 1
    assert [row.key for row in decisions(two.engine)] == [made.key]
    assert one.sync().decisions == 0


def test_a_decision_that_cannot_be_read_is_told_in_a_line(machines: Machines) -> None:
    one, two = machines("one"), machines("two")
    measured(one, "a")
    decide(one, 1)
    one.sync()
    (run,) = one.runs("decision")
    (artifacts(one, run.info.run_id) / "decision.json").write_bytes(b"{")
    done = two.sync()
    assert done.faults[0].startswith(f"decision {run.data.tags['bluffline.decision.key'][:8]} (run {run.info.run_id}):")
    assert (done.new, decisions(two.engine)) == (1, [])


def test_one_sync_at_a_time_and_each_leaves_a_row(machines: Machines) -> None:
    one = machines("one")
    measured(one, "a")
    with locked(one.engine, "sync"), pytest.raises(TrackingError, match="another sync of this store is at work"):
        one.sync()
    assert latest_sync(one.engine) is None
    one.sync()
    row = latest_sync(one.engine)
    assert row is not None
    assert (row.state, row.counts["pushed"], row.faults, row.uri) == ("finished", 1, [], machines.uri)


def test_a_store_that_holds_something_is_only_replaced_when_told_and_a_copy_is_kept(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    decide(ci, 1)
    ci.sync()
    measured(team, "z")
    url = f"sqlite:///{team.folder / 'store.db'}"
    with pytest.raises(StoreError, match=r"holds 1 sweep and 0 decisions: nothing was changed; with --force"):
        rebuild(url, team.ledger, force=False)
    open_before = open_store(url)  # a dashboard that is running
    assert [row.key[0] for row in reads.sweeps(open_before)] == ["z"]
    made = rebuild(url, team.ledger, force=True)
    assert made.copy is not None
    assert made.only_there == 1
    assert [row.key[0] for row in reads.sweeps(open_before)] == ["a"]
    assert contents(team) == contents(ci)
    kept = open_store(f"sqlite:///{made.copy}")
    assert [row.key[0] for row in reads.sweeps(kept)] == ["z"]
    assert sorted(file.name for file in team.folder.iterdir() if "rebuilding" in file.name) == []
    open_before.dispose()
    kept.dispose()


def test_a_store_is_not_replaced_by_half_of_it_or_by_nothing(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    url = f"sqlite:///{team.folder / 'store.db'}"
    measured(team, "z")
    with pytest.raises(StoreError, match="holds nothing to build a store from"):
        rebuild(url, team.ledger, force=True)
    measured(ci, "a")
    ci.sync()
    (artifacts(ci, run_of(ci, "a", BM25_E).info.run_id) / "outcomes.parquet").unlink()
    with pytest.raises(StoreError, match="was not touched, because not everything could be read"):
        rebuild(url, team.ledger, force=True)
    writes.update_sweep(team.engine, 1, state="running", host="elsewhere")
    with pytest.raises(StoreError, match="a sweep is running in"):
        rebuild(url, team.ledger, force=True)
    assert [row.key[0] for row in reads.sweeps(team.engine)] == ["z"]
    assert not list(team.folder.glob("*replaced*"))
    assert reads_exchange.combination_lines(team.engine)


def test_an_empty_store_is_filled_without_force(machines: Machines) -> None:
    ci, team = machines("ci"), machines("team")
    measured(ci, "a")
    ci.sync()
    made = rebuild(f"sqlite:///{team.folder / 'store.db'}", team.ledger, force=False)
    assert (made.copy, made.synced.new) == (None, 1)
    assert contents(team) == contents(ci)
